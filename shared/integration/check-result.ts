/** What a check of an integration comes to, whoever ran it: the platform, or the tool at home. */
export interface CheckResult {
  readonly check: string
  readonly status: 'pass' | 'fail' | 'warn' | 'skip'
  /** What was found. */
  readonly detail: string
  /** The one thing to do next; '' where there is nothing to do. */
  readonly nextAction: string
}

export const pass = (check: string, detail: string): CheckResult => ({
  check,
  status: 'pass',
  detail,
  nextAction: '',
})
export const skip = (check: string, detail: string, nextAction = ''): CheckResult => ({
  check,
  status: 'skip',
  detail,
  nextAction,
})
export const warn = (check: string, detail: string, nextAction: string): CheckResult => ({
  check,
  status: 'warn',
  detail,
  nextAction,
})
export const fail = (check: string, detail: string, nextAction: string): CheckResult => ({
  check,
  status: 'fail',
  detail,
  nextAction,
})
