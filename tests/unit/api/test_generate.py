"""The files in `crds/`: up to date, and said to be otherwise when they are not."""

from pathlib import Path

import pytest
import yaml

from compozy.api.generate import COMMAND, HEADER, differences, main, render
from compozy.api.manifests import manifest_files

pytestmark = pytest.mark.unit

CRDS = Path(__file__).parents[3] / "crds"


def test_the_files_of_this_repository_are_up_to_date() -> None:
    assert differences(CRDS) == {}


def test_writing_then_checking_finds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "new" / "crds"
    assert main(["--directory", str(directory)]) == 0
    assert main(["--directory", str(directory), "--check"]) == 0
    assert capsys.readouterr().err == ""
    assert {path.name for path in directory.iterdir()} == set(manifest_files())


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("plans.yaml", None, f"missing: run `{COMMAND}`"),
        ("plans.yaml", "edited: by hand\n", f"differs from the models: run `{COMMAND}`"),
        ("leftover.yaml", "kind: Gone\n", "not generated from any model: delete it"),
    ],
)
def test_checking_names_the_file_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | None, problem: str
) -> None:
    main(["--directory", str(tmp_path)])
    if text is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(text)
    assert main(["--directory", str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().err == f"{tmp_path / name}: {problem}\n"
    assert (tmp_path / name).exists() is (text is not None)


def test_manifests_for_an_operator_outside_of_the_cluster(tmp_path: Path) -> None:
    url = "https://plans.example.com:9443/answers"
    assert main(["--directory", str(tmp_path), "--webhook-url", url]) == 0
    assert list(differences(tmp_path)) == [tmp_path / "webhook.yaml"]
    assert f"url: {url}" in (tmp_path / "webhook.yaml").read_text()


@pytest.mark.parametrize("name", manifest_files())
def test_the_text_is_the_manifests_and_nothing_else(name: str) -> None:
    manifests = manifest_files()[name]
    text = render(manifests)
    assert list(yaml.safe_load_all(text)) == manifests
    assert text == render(manifest_files()[name])
    assert text.startswith(HEADER)
    assert not any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
