import math

from firth.evaluation.references import bert_table_average, leaderboard_average


def test_the_averages_of_the_table_and_of_the_leaderboard_differ():
    scores = {
        **{"mnli.accuracy": 0.8, "mnli_mismatched.accuracy": 0.7, "qqp.f1": 0.6, "qqp.accuracy": 0.8},
        **{"qnli.accuracy": 0.9, "sst2.accuracy": 0.9, "cola.matthews": 0.5, "stsb.spearman": 0.8},
        **{"stsb.pearson": 0.6, "mrpc.f1": 0.8, "mrpc.accuracy": 0.6, "rte.accuracy": 0.6},
        "wnli.accuracy": 0.5,
    }
    table = bert_table_average(scores)
    assert (round(table.value, 2), table.missing) == (round(100 * 6.6 / 9, 2), ())
    board = leaderboard_average(scores)
    assert (round(board.value, 2), board.missing) == (round(100 * 6.25 / 9, 2), ())
    assert leaderboard_average({}).missing and math.isnan(leaderboard_average({}).value)
    del scores["wnli.accuracy"]
    assert leaderboard_average(scores).missing == ("wnli.accuracy",)
