/** How a call ends: a number for pipelines, sentences for people. */

export const EXIT = { done: 0, notSo: 1, misused: 2, unavailable: 3, interrupted: 130 } as const
export type Exit = (typeof EXIT)[keyof typeof EXIT]

/** For programs that read `--json`: what the trouble is, whatever the sentences say. */
export const PROBLEM_CODES = [
  'unknown_command',
  'unknown_option',
  'option_invalid',
  'key_in_argument',
  'key_missing',
  'key_malformed',
  'key_refused',
  'base_url_invalid',
  'profile_unsafe',
  'profile_unreadable',
  'confirmation_needed',
  'declined',
  'interrupted',
  'unreachable',
  'not_the_service',
  'rate_limited',
  'service_refused',
  'service_failed',
  'folder_unreadable',
  'folder_too_wide',
  'nothing_found',
  'application_unclear',
  'edits_refused',
  'guide_refused',
  'write_failed',
  'unexpected',
] as const
type ProblemCode = (typeof PROBLEM_CODES)[number]

/** What stops a call: the first line says what is so, the others what to do about it. */
export class Problem extends Error {
  readonly exit: Exit
  readonly code: ProblemCode
  readonly lines: readonly string[]

  constructor(exit: Exit, code: ProblemCode, ...lines: readonly string[]) {
    super(lines[0])
    this.exit = exit
    this.code = code
    this.lines = lines.filter((line) => line !== '')
  }
}

export const interrupted = () => new Problem(EXIT.interrupted, 'interrupted', 'Interrupted.')
