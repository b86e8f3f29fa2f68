/** How a call ends: a number for pipelines, sentences for people. */

export const EXIT = { done: 0, notSo: 1, misused: 2, unavailable: 3, interrupted: 130 } as const
export type Exit = (typeof EXIT)[keyof typeof EXIT]

/** For programs that read `--json`: what the trouble is, whatever the sentences say; and how each ends a call. */
export const PROBLEM_EXITS = {
  unknown_command: EXIT.misused,
  unknown_option: EXIT.misused,
  option_invalid: EXIT.misused,
  key_in_argument: EXIT.misused,
  key_missing: EXIT.misused,
  key_malformed: EXIT.misused,
  key_refused: EXIT.misused,
  sign_in_denied: EXIT.notSo,
  sign_in_expired: EXIT.notSo,
  base_url_invalid: EXIT.misused,
  profile_unsafe: EXIT.notSo,
  profile_unreadable: EXIT.notSo,
  confirmation_needed: EXIT.misused,
  declined: EXIT.notSo,
  interrupted: EXIT.interrupted,
  unreachable: EXIT.unavailable,
  not_the_service: EXIT.unavailable,
  rate_limited: EXIT.unavailable,
  service_refused: EXIT.unavailable,
  service_failed: EXIT.unavailable,
  env_unsafe: EXIT.notSo,
  folder_unreadable: EXIT.misused,
  folder_too_wide: EXIT.misused,
  nothing_found: EXIT.notSo,
  application_unclear: EXIT.misused,
  edits_refused: EXIT.notSo,
  guide_refused: EXIT.notSo,
  write_failed: EXIT.notSo,
  start_fails: EXIT.notSo,
  install_fails: EXIT.notSo,
  not_started: EXIT.notSo,
  by_hand: EXIT.notSo,
  checks_fail: EXIT.notSo,
  unexpected: EXIT.unavailable,
} as const satisfies Readonly<Record<string, Exit>>
type ProblemCode = keyof typeof PROBLEM_EXITS

/** What stops a call: the first line says what is so, the others what to do about it. */
export class Problem extends Error {
  readonly exit: Exit
  readonly code: ProblemCode
  readonly lines: readonly string[]

  constructor(code: ProblemCode, ...lines: readonly string[]) {
    super(lines[0])
    this.exit = PROBLEM_EXITS[code]
    this.code = code
    this.lines = lines.filter((line) => line !== '')
  }
}

export const interrupted = () => new Problem('interrupted', 'Interrupted.')
