# An environment with packages of Python; the first place resolves the versions.
python3 -m venv venv
pip() { venv/bin/python -m pip --quiet --disable-pip-version-check --cache-dir="$kept/pip" "$@"; }
if [ -f "$kept/requirements.txt" ]; then
  pip install --requirement "$kept/requirements.txt"
else
  pip install flask requests sqlalchemy pytest jinja2 pydantic
  pip freeze >"$kept/requirements.txt"
fi
pip freeze
pip check
venv/bin/python -m compileall -q venv
cat >test_application.py <<'EOF'
import flask, pydantic, pytest, sqlalchemy


@pytest.mark.parametrize("number", range(50))
def test_page(number, tmp_path):
    application = flask.Flask("application")
    application.add_url_rule("/", view_func=lambda: flask.render_template_string("{{ n }}", n=number))
    assert application.test_client().get("/").text == str(number)
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/database")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("create table t (n)"))
        connection.execute(sqlalchemy.text("insert into t values (:n)"), {"n": number})
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("select n from t")).scalar() == number
    model = pydantic.create_model("Model", n=(int, ...))
    (tmp_path / "model.json").write_text(model(n=number).model_dump_json())
    assert model.model_validate_json((tmp_path / "model.json").read_text()).n == number
EOF
venv/bin/python -m pytest --basetemp=tests -q | sed 's/ in .*//'
pip install --force-reinstall --requirement "$kept/requirements.txt"
pip uninstall --yes flask
find venv -name '*.py' -printf '%P %m\n' -exec sha256sum {} + | sed "s|$PWD||" | sort | sha256sum
