export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** What mends it; '' where nothing is to be mended. */
  readonly fix: string
}

export const ok = (check: string, detail: string): Finding => ({
  check,
  status: 'ok',
  detail,
  fix: '',
})
export const skip = (check: string, detail: string): Finding => ({
  check,
  status: 'skip',
  detail,
  fix: '',
})
export const warn = (check: string, detail: string, fix: string): Finding => ({
  check,
  status: 'warn',
  detail,
  fix,
})
export const fail = (check: string, detail: string, fix: string): Finding => ({
  check,
  status: 'fail',
  detail,
  fix,
})
