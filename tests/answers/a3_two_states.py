"""Wrong answers to the exercise of lab A3, each with the sentence that it must get."""

HEAD = '''def command(argv, model):
    parser = argparse.ArgumentParser()
    parser.add_argument("prompt")
'''
OPTIONS = '''    parser.add_argument("--session")
    parser.add_argument("--context-max-chars", type=int)
    args = parser.parse_args(argv)
'''

WRONG = {
    "command-line": [
        (HEAD + OPTIONS + "    return run_agent(args.prompt, model, tools())\n", "a3_session_lost"),
        (HEAD + OPTIONS + "    return run_agent(args.prompt, model, tools(), session_path=args.session)\n", "a3_budget_lost"),
        (HEAD + OPTIONS.replace(", type=int", "")
         + "    return run_agent(args.prompt, model, tools(), session_path=args.session, "
         "context_max_chars=args.context_max_chars)\n", "a3_budget_text"),
        (HEAD + OPTIONS + "    return run_agent(args.prompt, model, tools(), session_path=args.context_max_chars, "
         "context_max_chars=args.session)\n", "a3_swapped"),
        (HEAD + OPTIONS + "    if args.context_max_chars:\n"
         "        return run_agent(args.prompt, model, tools(), context_max_chars=args.context_max_chars)\n"
         "    return run_agent(args.prompt, model, tools(), session_path=args.session)\n", "a3_both_lost"),
        (HEAD + "    args = parser.parse_args(argv)\n    return run_agent(args.prompt, model, tools())\n", "a3_refused"),
        (HEAD + OPTIONS + "    run_agent(args.prompt, model, tools(), session_path=args.session, "
         "context_max_chars=args.context_max_chars)\n", "a3_no_run"),
        (HEAD + OPTIONS.replace('"--session"', '"--session", default="session.jsonl"')
         + "    return run_agent(args.prompt, model, tools(), session_path=args.session, "
         "context_max_chars=args.context_max_chars)\n", "a3_plain"),
        (HEAD + OPTIONS.replace("type=int", "type=int, default=2000")
         + "    return run_agent(args.prompt, model, tools(), session_path=args.session, "
         "context_max_chars=args.context_max_chars)\n", "a3_plain_trimmed"),
        (HEAD + OPTIONS + "    return run_agent(args.prompt, samples.model(), tools(), session_path=args.session, "
         "context_max_chars=args.context_max_chars)\n", "a3_other_model"),
        (HEAD + OPTIONS, "a3_not_called"),
        (HEAD + OPTIONS.replace("parse_args(argv)", "parse_args()")
         + "    return run_agent(args.prompt, model, tools(), session_path=args.session, "
         "context_max_chars=args.context_max_chars)\n", "a3_refused_plain"),
        (HEAD + OPTIONS + "    if args.session:\n        Path(args.session).unlink(missing_ok=True)\n"
         "    return run_agent(args.prompt, model, tools(), session_path=args.session, "
         "context_max_chars=args.context_max_chars)\n", "a3_file_other"),
    ],
}
