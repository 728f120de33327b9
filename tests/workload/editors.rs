//! Saves by programs that edit files.

use crate::places::{on, same_as_on_the_disk};
use crate::support::Mount;

/// `vim FILE COMMANDS`: edits and saves without a terminal; `state FILE` tells what there is.
const START: &str = r#"
    program=$(command -v vim.tiny || command -v vim || command -v vi)
    edit() { "$program" -es -u NONE -i NONE -c 'set backupskip=' -c "$3" -c '%s/beta/gamma/' -c "$2" "$1"; }
    state() { cat "$1"; stat -c '%F %a %u:%g %h' "$1"; ls -A; }
    "#;

#[test]
fn vim_saves_ordinary_files() {
    let steps = r#"
        for how in yes no auto; do for backup in backup nobackup; do
          echo "$how $backup"
          mkdir "$how $backup"
          cd "$how $backup"
          printf 'alpha\nbeta\n' >file
          chmod 640 file
          chown 1234:5678 file
          setfattr -n user.kept -v yes file
          edit file wq "set backupcopy=$how $backup"
          state file
          printf 'beta\n' >target
          ln target other
          ln -s target link
          edit link wq "set backupcopy=$how $backup"
          state other
          cd ..
        done; done"#;
    let told = same_as_on_the_disk(&format!("{START}{steps}"));
    assert_eq!(told.matches("alpha\ngamma\n").count(), 6, "{told}");
}

#[test]
fn vim_saves_documents() {
    let steps = r#"
        cd ../..
        for how in yes no auto; do for backup in backup nobackup; do
          echo "$how $backup"
          printf '{\n"state": "beta"\n}\n' >sandbox.json
          chmod 640 sandbox.json
          edit sandbox.json wq "set backupcopy=$how $backup"
          state sandbox.json
          rm -f sandbox.json~
        done; done"#;
    let told = same_as_on_the_disk(&format!("{START}{steps}"));
    assert_eq!(told.matches("\"state\": \"gamma\"").count(), 6, "{told}");
}

#[test]
fn vim_that_would_spoil_a_document_fails_and_the_old_one_stays() {
    let steps = r#"
        cd ../..
        for how in yes no auto; do
          printf '{\n"state": "beta"\n}\n' >sandbox.json
          if edit sandbox.json 'wq' "set backupcopy=$how | \$d"; then echo "$how: no error"; fi
          cat sandbox.json
          rm -f sandbox.json~ .sandbox.json.swp
        done
        ls -A"#;
    let mount = Mount::new();
    let told = on(&mount.path, &format!("{START}{steps}"));
    assert_eq!(told, format!("{}sandbox.json\nuser-data\n", "{\n\"state\": \"beta\"\n}\n".repeat(3)));
}

#[test]
fn sed_and_others_save_ordinary_files() {
    let steps = r#"
        show() { stat -c '%n %a %u:%g %h' file; cat file; ls -A; }
        printf 'alpha\nbeta\n' >file
        chmod 600 file
        chown 1234:5678 file
        sed -i s/alpha/one/ file && show
        sed -i.bak s/one/two/ file && show
        ln file other
        sed -i s/two/three/ file && show
        cat other
        ln -s file link
        sed -i --follow-symlinks s/three/four/ link && show
        perl -i.orig -pe s/four/five/ file && show
        sort -o file file && show
        python3 -c 'import fileinput
for line in fileinput.input("file", inplace=True): print(line.replace("five", "six"), end="")'
        show
        echo seven | tee -a file | cat && show
        printf 'patched\n' | dd of=file conv=notrunc status=none && show
        cat >new <<<eight
        cp new file && show
        cp --remove-destination new file && show
        install -m 751 new file && show
        mv --backup=numbered new file && show"#;
    same_as_on_the_disk(steps);
}

#[test]
fn sed_and_others_save_documents() {
    let steps = r#"
        cd ../..
        show() { stat -c '%n %a %u:%g %h' sandbox.json; cat sandbox.json; ls -A; }
        echo '{"state": "one"}' >sandbox.json
        sed -i s/one/two/ sandbox.json && show
        sed -i.bak s/two/three/ sandbox.json && show
        perl -i -pe s/three/four/ sandbox.json && show
        python3 -m json.tool sandbox.json sandbox.json && show
        python3 -c 'import fileinput
for line in fileinput.input("sandbox.json", inplace=True): print(line.replace("four", "five"), end="")'
        show
        echo '{"state": "six"}' | tee sandbox.json && show
        echo '{"state": "seven"}' >new
        cp new sandbox.json && show
        cp --remove-destination new sandbox.json && show
        install -m 640 new sandbox.json && show
        mv --backup=simple new sandbox.json && show"#;
    same_as_on_the_disk(steps);
}

#[test]
fn sed_that_would_spoil_a_document_fails_and_the_old_one_stays() {
    let mount = Mount::new();
    let steps = r#"
        cd ../..
        echo '{"state": 1}' >sandbox.json
        if sed -i 's/}//' sandbox.json; then echo no error; fi
        if printf '{' | dd of=sandbox.json status=none; then echo no error; fi
        echo '{' >new
        if cp new sandbox.json; then echo no error; fi
        if mv new sandbox.json; then echo no error; fi
        cat sandbox.json"#;
    assert_eq!(on(&mount.path, steps), "{\"state\": 1}\n");
}
