/** How a call of our programs ends: a number for scripts, pipelines and units, sentences for people. */

export const EXIT = { done: 0, notSo: 1, misused: 2, unavailable: 3, interrupted: 130 } as const
export type Exit = (typeof EXIT)[keyof typeof EXIT]

/** Of the command line tool, for programs that read its `--json`: what the trouble is, whatever the sentences say. */
export const TOOL_EXITS = {
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
  not_published: EXIT.notSo,
  not_started: EXIT.notSo,
  no_connector: EXIT.notSo,
  by_hand: EXIT.notSo,
  checks_fail: EXIT.notSo,
  unexpected: EXIT.unavailable,
} as const satisfies Readonly<Record<string, Exit>>

/** How each ends a call; what stands above is shared by the programs that stay on a machine. */
const PROBLEM_EXITS = {
  ...TOOL_EXITS,
  token_in_argument: EXIT.misused,
  token_missing: EXIT.misused,
  token_malformed: EXIT.misused,
  token_file_unsafe: EXIT.notSo,
  token_file_unreadable: EXIT.misused,
  token_refused: EXIT.notSo,
  origin_ca_unusable: EXIT.misused,
  proxy_invalid: EXIT.misused,
  already_joined: EXIT.notSo,
  not_enrolled: EXIT.notSo,
  ticket_in_argument: EXIT.misused,
  ticket_missing: EXIT.misused,
  ticket_malformed: EXIT.misused,
  ticket_refused: EXIT.notSo,
  device_refused: EXIT.notSo,
  no_code: EXIT.notSo,
  agent_not_running: EXIT.unavailable,
  update_refused: EXIT.notSo,
  not_joined: EXIT.notSo,
  already_running: EXIT.notSo,
  connector_refused: EXIT.notSo,
  state_unsafe: EXIT.notSo,
  state_unreadable: EXIT.notSo,
  state_unwritable: EXIT.notSo,
  systemd_missing: EXIT.notSo,
  systemd_failed: EXIT.notSo,
  root_needed: EXIT.misused,
  unit_foreign: EXIT.notSo,
  node_private: EXIT.notSo,
} as const satisfies Readonly<Record<string, Exit>>
export type ProblemCode = keyof typeof PROBLEM_EXITS

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
