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
        "zh": "前面已有多格无法运行，或者整本的时间已经用完，这一格没有再运行。",
        "en": "Several cells above could not be run, or the time for the notebook was up; this one was not run any more.",
    },
    "class_no_verdict": {
        "zh": "检查没有给出结论，因此不计分。",
        "en": "The check gave no verdict, so this does not count.",
    },
    "class_graded": {
        "zh": "{lab}，{id}：{state}，{points} 分",
        "en": "{lab}, {id}: {state}, {points} points",
    },
    "class_failed": {
        "zh": "{lab}，{id}：{state}；原因见 {log}",
        "en": "{lab}, {id}: {state}; {log} says why",
    },
    "class_ended": {
        "zh": "上一次评分在 {lab}，{id} 运行时突然中断。如果不是你停的，就是这份代码做的，请看一看；这次把它排在最后。",
        "en": "The last grading ended abruptly while {lab} of {id} ran. If you did not stop it, that code did: look at it. "
              "This time it comes last.",
    },
    "class_meddled": {
        "zh": "{lab}，{id} 的代码运行时，课程里的文件变了：{files}。如果没有别人在用这门课程，就是这份代码改的。"
              "请从备份恢复这些文件，移走 submitted/{id}/{lab}，再评一次。",
        "en": "Files of the course changed while the code of {id} in {lab} ran: {files}. If nobody else works in the course, "
              "that code did it. Restore them from a copy, move submitted/{id}/{lab} away, and grade again.",
    },
    "class_closed": {
        "zh": "{folder} 现在用不了：{error}。磁盘满了、不能写入，或者 gradebook.db 正被别的程序占用。"
              "解决之后再评一次，会接着做。",
        "en": "{folder} cannot be used now: {error}. The disk is full, nothing may be written there, or another program "
              "has gradebook.db. Once that is mended, grade again; it goes on from here.",
    },
    "class_busy": {
        "zh": "{folder} 正在评分，请等那一次结束。",
        "en": "{folder} is being graded already; wait until that is done.",
    },
    "class_stopped": {
        "zh": "已停下。再运行一次，会从停下的地方接着评。",
        "en": "Stopped. Run it again, and it goes on from here.",
    },
    "class_left": {"zh": "没有收：{path}（{why}）", "en": "not taken: {path} ({why})"},
    "class_left_lab": {"zh": "文件名里没有这门课的实验", "en": "its name has no lab of this course"},
    "class_left_student": {"zh": "文件名和文件夹里都没有名单上的学号",
                           "en": "neither its name nor a folder is an id of the roster"},
    "class_left_large": {"zh": "文件太大", "en": "it is too large"},
    "class_left_link": {"zh": "是链接", "en": "it is a link"},
    "class_left_inner": {"zh": "压缩包里的压缩包不会打开", "en": "an archive in an archive is not opened"},
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
    "class_plot": {"zh": "每道练习做对、做错、无法运行、没有开始的人数",
                   "en": "For each exercise, how many are right, wrong, not run, not started"},
    "class_reports": {"zh": "报告", "en": "reports"},
    "class_events": {"zh": "事件数（中位数）", "en": "events (median)"},
    "class_rebuilt": {"zh": "能重建的请求", "en": "requests that rebuild"},
    "class_passed": {"zh": "通过的检查", "en": "checks passed"},
    "class_faults": {"zh": "违反的关系", "en": "broken relations"},
}
