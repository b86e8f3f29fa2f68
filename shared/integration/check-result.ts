/** What a check of an integration comes to, whoever ran it: the platform, or the tool at home. */
export interface CheckResult {
  readonly check: string
  readonly status: 'pass' | 'fail' | 'warn' | 'skip'
  /** What was found. */
  readonly detail: string
  /** The one thing to do next; '' where there is nothing to do. */
  readonly nextAction: string
}

/** What one check has come to. */
export function resultsOf(check: string) {
  const of =
    (status: CheckResult['status']) =>
    (detail: string, nextAction: string): CheckResult => ({ check, status, detail, nextAction })
  const pass = of('pass')
  const skip = of('skip')
  return {
    pass: (detail: string) => pass(detail, ''),
    skip: (detail: string, nextAction = '') => skip(detail, nextAction),
    warn: of('warn'),
    fail: of('fail'),
  }
}
