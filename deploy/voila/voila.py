"""Settings of the Voilà that `lab.py show` starts in a folder of deploy/show_notebooks.py."""
from pathlib import Path

from labsupport.workbench.labs import LABS
from labsupport.workbench.text import language

LANG = language()
WORDS = {
    "title": ("How agents remember", "智能体怎样记住"),
    "note": ("Open a lab, ask its question, move the controls. Nothing is saved.",
             "打开一个实验，先问问题，再动控件。什么都不会保存。"),
    "index": ("All labs", "全部实验"),
    "dark": ("dark", "深色"),
    "light": ("light", "浅色"),
    "loading": ("Getting the pictures ready …", "正在准备画面……"),
    "failed": ("This lab cannot be shown.", "这个实验无法展示。"),
}


def page_config(current: dict, **_: object) -> dict:
    """What the templates know: the labs that are here, and the words around them."""
    here = [lab for lab in LABS if Path(f"{lab.name}.ipynb").is_file()]
    current["labs"] = [{"id": lab.id, "name": lab.name, "title": lab.title, "question": lab.question} for lab in here]
    current["words"] = {key: forms[LANG == "zh"] for key, forms in WORDS.items()}
    current["lang"] = LANG
    return current


c = get_config()  # noqa: F821  (Jupyter gives it)
c.Voila.ip = "127.0.0.1"
c.Voila.port_retries = 0
c.Voila.open_browser = False
c.Voila.auto_token = True  # the one in JUPYTER_TOKEN
c.Voila.tornado_settings = {"ws_ping_timeout": 30_000}  # or tornado warns of it with every page
c.Voila.log_level = "ERROR"
c.VoilaConfiguration.template = "workbook"
c.VoilaConfiguration.allow_template_override = "NO"
c.VoilaConfiguration.classic_tree = True  # rendered by our tree.html
c.VoilaConfiguration.page_config_hook = page_config
c.VoilaConfiguration.extension_allowlist = ["@jupyter-widgets/jupyterlab-manager", "@voila-dashboards/widgets-manager8"]
c.VoilaConfiguration.show_tracebacks = True  # else not even the error's name is known; the template leaves the rest out
c.HTMLExporter.language_code = {"zh": "zh-CN", "en": "en"}[LANG]
