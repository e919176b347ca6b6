"""Further inputs of a signature are options, whatever their names are."""

import pytest
import typer

from firth.cli.requests.request_options import InputsCommand, RequestCommand, given_inputs, inputs_for


@pytest.fixture
def ask():
    """Calls a command with arguments, and returns the values that it received."""
    app, found = typer.Typer(add_completion=False), {}

    @app.command(cls=InputsCommand)
    def command(ctx: typer.Context, texts: list[str], output: str = "", as_json: bool = False) -> None:
        found.update(texts=texts, output=output, as_json=as_json, inputs=given_inputs(ctx))

    def call(*arguments):
        found.clear()
        code = app(list(arguments), standalone_mode=False)
        return dict(found) or code

    return call


def test_an_option_that_the_command_lacks_is_an_input(ask):
    found = ask("one", "--pair", "first", "two", "--as-json", "--pair=second one", "--output", "--x")
    assert found["texts"] == ["one", "two"] and found["as_json"] and found["output"] == "--x"
    assert found["inputs"] == {"pair": ["first", "second one"]}
    assert ask("--word-list", "a", "--", "--pair")["inputs"] == {"word_list": ["a"]}
    assert ask("--", "--pair")["texts"] == ["--pair"]


def test_an_option_without_its_text_is_refused(ask, capsys):
    assert ask("one", "--jsno") == 2
    assert "--jsno: there is no such option, or its text is missing" in capsys.readouterr().err
    assert ask("one", "--pair", "--output=x") == 2
    assert "--pair: there is no such option, or its text is missing" in capsys.readouterr().err
    assert ask("one", "--pair=--output")["inputs"] == {"pair": ["--output"]}


def test_a_text_may_be_called_as_an_argument_of_the_command_is(ask):
    assert ask("one", "--task", "texts")["inputs"] == {"task": ["texts"]}


def test_options_of_a_request_name_the_kind_of_their_values():
    app = typer.Typer(add_completion=False)

    @app.command(cls=RequestCommand)
    def ask() -> None:
        """Only its parameters are read."""

    command = typer.main.get_command(app)
    found = {each.name: each.metavar for each in command.get_params(typer.Context(command))}
    named = {"sampler": "KIND", "seed": "INTEGER", "top_p": "NUMBER", "stop": "TEXT", "finish": None}
    assert named.items() <= found.items()


def test_texts_are_counted_and_lists_are_taken_apart(capsys):
    described = {"choices": {"task": ["cola", "sst2"]}, "lists": {"choices": " | "}}
    said = {"choices": ["a | b", "c\nd | e"], "task": ["cola"], "pair": ["x | y", "z"]}
    assert inputs_for(said, described, 2) == {
        "choices": [["a", "b"], ["c", "d | e"]],
        "task": ["cola", "cola"],
        "pair": ["x | y", "z"],
    }
    assert inputs_for({"choices": ['["a\\nb | c", "[d"]']}, described, 1) == {"choices": [["a\nb | c", "[d"]]}
    with pytest.raises(typer.Exit):
        inputs_for({"pair": ["x"]}, described, 2)
    assert "--pair is given once for each text" in capsys.readouterr().err
