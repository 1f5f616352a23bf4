"""The project's folder as agents have it."""

from regraph_kg.agents.folder import ProjectFolder
from regraph_kg.models.evaluation import Candidate
from tests.agents.conftest import Project


def test_an_edited_problem_is_another_question(project: Project) -> None:
    """Else its old answers would stand for the new one."""
    folder, declared = ProjectFolder(project.folder, project.settings), project.folder / "scale"
    place, candidate = folder.problem("scale"), Candidate("openmp", project.serial)
    asked = folder.question(place, candidate)
    assert folder.question(place, candidate) == asked
    assert folder.question(place, Candidate("openmp", "int x;")) != asked
    (declared / "serial.cpp").write_text(f"{project.serial}// edited\n")
    assert folder.question(place, candidate) != asked
