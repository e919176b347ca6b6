"""A decoder that the command teaches dialogues, from a file of messages to replies of the served model."""

import json
from collections import Counter

import keras
import pytest
from typer.testing import CliRunner

from firth import recipes
from firth.cli.main import app
from firth.generation import load_generator
from firth.models import build_pretraining_model, save_model
from firth.recipes import load_recipe
from firth.recipes.tokenizers.chat_template import TEMPLATES
from firth.serving import load_served
from firth.tokenizers import BytePairTokenizer, load_tokenizer, save_tokenizer
from firth.tokenizers.training.byte_pair import train_byte_pairs
from firth.tokenizers.training.counting import count_byte_words

DIALOGUES = [
    [("user", "Who wrote Hamlet?"), ("assistant", "William Shakespeare did.")],
    [("user", "What do whales eat?"), ("assistant", "Krill, and small fish.")],
    [("system", "Be short."), ("user", "Who wrote Emma?"), ("assistant", "Jane Austen.")],
    [
        ("user", "What do whales eat?"),
        ("assistant", "Krill, and small fish."),
        ("user", "And sharks?"),
        ("assistant", "Seals, and larger fish."),
    ],
]
OPTIONS = (
    *("--set=training.optimizer.learning_rate=0.01", "--set=sequences={length: 96, max_documents: 4}"),
    *("--set=epochs=60", "--set=examples_per_step=4", "--set=task.reply_tokens=24"),
)


def messages(turns) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in turns]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an untrained decoder among its runs, and a file of dialogues, of which two are bad."""
    folder = tmp_path_factory.mktemp("finetune-dialogue")
    counts: Counter[str] = Counter()
    for turns in DIALOGUES:
        counts.update(count_byte_words([content for _, content in turns]))
    tokenizer = BytePairTokenizer(train_byte_pairs(counts, 320, 2))
    model = load_recipe("gpt2_tiny", ["model.width=32", "model.layers=2"]).model
    recipe = recipes.Recipe(
        name="base",
        sources=(recipes.TextSource(kind="text", paths=("unread.txt",)),),
        tokenizer=recipes.BytePairTokenizerConfig(vocabulary_size=320),
        sequences=recipes.Sequences(length=96, max_documents=4),
        objective=recipes.CausalLM(),
        model=model,
        training=recipes.Training(steps=1, optimizer=recipes.AdamWConfig(warmup_steps=0)),
    )
    keras.utils.set_random_seed(3)
    save_tokenizer(tokenizer, folder / "tokenizer")
    built = build_pretraining_model(recipe)
    save_model(built, recipe, folder / "tokenizer", folder / "firth-runs" / "base" / "bundle")
    lines = [{"messages": messages(turns)} for turns in DIALOGUES]
    lines += [{"messages": messages([("user", "Is anyone there?")])}, {"messages": "no list"}]
    (folder / "chat.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


def run(folder, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(app, [*arguments])


@pytest.mark.repeated
def test_a_file_of_messages_becomes_a_model_that_replies_word_for_word(folder):
    files = ("--train", "chat.jsonl", "--eval", "chat.jsonl")
    result = run(folder, "finetune", "base", "--task", "dialogue", *files, *OPTIONS)
    assert result.exit_code == 0, result.output
    assert "chat.jsonl:5: no_reply: " in result.output and "chat.jsonl:6: not_a_list: " in result.output
    summary = json.loads((folder / "firth-runs" / "base_dialogue" / "run.json").read_text())
    found = summary["evaluation"]["overall"]
    assert summary["blessed"] and found["lm_perplexity"] < 1.2 and found["lm_accuracy"] > 0.95
    assert found["reply_probability_low"] <= found["reply_probability"] <= found["reply_probability_high"]
    assert "as served: reply_probability: " in result.output and "by score_replies" in result.output
    assert "of the constant answer pieces by their frequency" in result.output
    asked = run(folder, "predict", "base_dialogue", "reply", "Who wrote Hamlet?", "--json")
    assert json.loads(asked.stdout)["reply"] == "William Shakespeare did.", asked.output
    generator = load_generator(summary["bundle"])
    for turns in DIALOGUES:
        for place, (role, content) in enumerate(turns):
            if role == "assistant":
                assert generator.reply(messages(turns[:place])).text == content
    kept = load_tokenizer(f"{summary['bundle']}/tokenizer")
    assert kept.chat_template == TEMPLATES["plain"]
    assert load_served(summary["bundle"]).tokenizer.digest == kept.digest != kept.digest_of_ids


def test_a_template_whose_pieces_are_missing_is_refused_before_anything_runs(folder):
    options = ("--train", "chat.jsonl", "--set=task.template=chatml", "--name", "refused")
    result = run(folder, "finetune", "base", "--task", "dialogue", *options)
    assert result.exit_code == 2 and not (folder / "firth-runs" / "refused").exists()
    said = "task.template: the template's piece '<|im_start|>' is not in the vocabulary; the nearest special"
    assert said in result.output
