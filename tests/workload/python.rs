//! Environments and packages of Python in a workspace, without a network.

use crate::places::same_as_on_the_disk;

#[test]
fn a_venv_with_a_package_from_a_wheel() {
    let steps = r#"
        python3 "$steps/wheel.py" .
        python3 -m venv venv
        pip() { venv/bin/python -m pip --quiet --disable-pip-version-check --no-cache-dir --isolated "$@"; }
        pip install --no-index ./sample-1.0-py3-none-any.whl
        venv/bin/sample
        (cd / && "$OLDPWD/venv/bin/python" -c 'import sample; print(sample.__version__)')
        [ -f "$(echo venv/lib/python3*/site-packages/sample/__pycache__/__init__.*.pyc)" ]
        pip check
        venv/bin/python -m pip --disable-pip-version-check list --format=freeze | grep sample
        pip install --no-index --force-reinstall ./sample-1.0-py3-none-any.whl
        pip uninstall --yes sample
        [ ! -e venv/bin/sample ]
        python3 -m venv --copies --without-pip copied
        copied/bin/python -c 'print("copied")'
        python3 -m venv --clear --without-pip venv
        ls venv/bin | grep -c activate
        find venv copied -name __pycache__ -prune -o -printf '%P %y %m\n' | sort"#;
    let told = same_as_on_the_disk(steps);
    assert!(told.starts_with("sample 1.0 with its data\n1.0\nsample==1.0\n"), "{told}");
}

#[test]
fn modules_that_change_are_compiled_anew() {
    // Python compares the time and size of a source with those in its .pyc.
    let steps = r#"
        export PYTHONDONTWRITEBYTECODE=
        comment=
        for n in $(seq 10 29); do
          comment=$comment#
          echo "value = $n $comment" >module.py
          [ "$(python3 -c 'import module; print(module.value)')" = "$n" ] || echo "stale at $n"
        done
        ls | sort
        mkdir package
        echo 'print("run from a folder")' >package/__main__.py
        python3 -m compileall -q .
        python3 package
        python3 -m zipapp package -p '/usr/bin/env python3'
        ./package.pyz"#;
    let told = same_as_on_the_disk(steps);
    assert_eq!(told, "__pycache__\nmodule.py\nrun from a folder\nrun from a folder\n");
}
