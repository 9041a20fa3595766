"""What instructors read: grading, and the page about a class."""

WORDS = {
    "class_timed_out": {
        "zh": "这一格运行超过 {seconds} 秒，已跳过；后面的照常评分。",
        "en": "This cell ran for more than {seconds} seconds and was passed over; what follows it is graded.",
    },
    "class_died": {
        "zh": "这一格让内核退出了，已跳过；后面的照常评分。",
        "en": "This cell ended its kernel and was passed over; what follows it is graded.",
    },
    "class_passed_over": {
        "zh": "前面已有多格无法运行，这一格没有再运行。",
        "en": "Several cells above could not be run, and this one was not run any more.",
    },
    "class_graded": {
        "zh": "{lab}，{id}：{state}，{points} 分",
        "en": "{lab}, {id}: {state}, {points} points",
    },
    "class_failed": {
        "zh": "{lab}，{id}：{state}；原因见 {log}",
        "en": "{lab}, {id}: {state}; {log} says why",
    },
    "class_left": {"zh": "没有收：{path}（{why}）", "en": "not taken: {path} ({why})"},
    "class_left_lab": {"zh": "文件名里没有这门课的实验", "en": "its name has no lab of this course"},
    "class_left_student": {"zh": "文件名和文件夹里都没有名单上的学号", "en": "neither its name nor a folder is an id of the roster"},
    "class_left_large": {"zh": "文件太大", "en": "it is too large"},
    "class_left_zip": {"zh": "不是能读的 zip", "en": "it is no zip that can be read"},
    "class_nothing": {
        "zh": "{folder} 里没有交上来的实验。用 --from 指出下载的文件夹。",
        "en": "Nothing was handed in, in {folder}. Name the folder of what was downloaded with --from.",
    },
    "class_page": {"zh": "全班情况：{path}", "en": "the class on one page: {path}"},
    "class_title": {"zh": "全班情况", "en": "The class"},
    "class_said": {
        "zh": "名单上 {all} 人，{n} 人交了作业，涉及 {labs} 个实验。还没有做对的练习共 {stuck} 道次。",
        "en": "{all} students are on the roster, {n} handed something in, from {labs} labs. "
              "Exercises that are not right yet: {stuck}.",
    },
    "class_h_labs": {"zh": "实验", "en": "Labs"},
    "class_h_exercises": {"zh": "卡在哪里", "en": "Where the class is stuck"},
    "class_h_students": {"zh": "学生", "en": "Students"},
    "class_h_reports": {"zh": "交来的实验报告", "en": "Lab reports handed in"},
    "class_lab": {"zh": "实验", "en": "Lab"},
    "class_exercise": {"zh": "练习", "en": "Exercise"},
    "class_handed": {"zh": "已交", "en": "handed in"},
    "class_done": {"zh": "全部做对", "en": "done"},
    "class_started": {"zh": "做了一部分", "en": "started"},
    "class_untouched": {"zh": "没有动", "en": "untouched"},
    "class_unreadable": {"zh": "打不开", "en": "unreadable"},
    "class_minutes": {"zh": "分钟（中位数）", "en": "minutes (median)"},
    "class_stated": {"zh": "预计分钟", "en": "minutes stated"},
    "class_minutes_note": {
        "zh": "分钟是估计值：从最早运行的一格到最晚运行的一格，超过十分钟的停顿不算。每一格只记得最后一次运行。",
        "en": "Minutes are an estimate: from the first cell that was run to the last, without pauses of more than ten minutes. "
              "Of each cell only its last run is known.",
    },
    "class_right": {"zh": "做对", "en": "right"},
    "class_wrong": {"zh": "做错", "en": "wrong"},
    "class_not_run": {"zh": "无法运行", "en": "not run"},
    "class_not_started": {"zh": "没有开始", "en": "not started"},
    "class_ideas": {"zh": "检查给出的话（次数最多的）", "en": "what the check said, most frequent first"},
    "class_plot": {"zh": "每道练习做对、做错、无法运行、没有开始的人数", "en": "For each exercise, how many are right, wrong, not run, not started"},
    "class_reports": {"zh": "报告", "en": "reports"},
    "class_events": {"zh": "事件数（中位数）", "en": "events (median)"},
    "class_rebuilt": {"zh": "能重建的请求", "en": "requests that rebuild"},
    "class_passed": {"zh": "通过的检查", "en": "checks passed"},
    "class_faults": {"zh": "违反的关系", "en": "broken relations"},
}
