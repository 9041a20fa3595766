"""Settings of the JupyterLab that `lab.py` starts."""
import warnings

VIEW = "application/vnd.jupyter.widget-view+json"
PICTURES = {"text/html", "image/svg+xml"}
# What instructors have installed is kept from the learners' server here, and from their page in jupyterlab/*/page_config.json.
INSTRUCTORS = ("nbgrader.server_extensions.assignment_list", "nbgrader.server_extensions.course_list",
               "nbgrader.server_extensions.formgrader", "nbgrader.server_extensions.validate_assignment",
               "notebook", "voila.server_extension")


def drop_views(model: dict, **_: object) -> None:
    """Save the picture without its widget: the next kernel does not know the widget, and an error would hide the picture."""
    if model["type"] == "notebook" and model.get("content"):
        for cell in model["content"].get("cells", ()):
            for data in (output.get("data", {}) for output in cell.get("outputs", ())):
                if PICTURES & data.keys():
                    data.pop(VIEW, None)


warnings.filterwarnings("ignore", "Overriding existing pre_save_hook")  # this file is read for the server and for JupyterLab
c = get_config()  # noqa: F821  (Jupyter gives it)
c.LabApp.log_level = "WARN"
c.ServerApp.jpserver_extensions = dict.fromkeys(INSTRUCTORS, False)
c.ContentsManager.pre_save_hook = drop_views
