import { Problem } from '../../../command-line/exit.ts'

export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** What mends it; '' where nothing is to be mended. */
  readonly fix: string
}

const finding =
  (status: Finding['status']) =>
  (check: string, detail: string, fix = ''): Finding => ({ check, status, detail, fix })

export const ok = finding('ok')
export const skip = finding('skip')
export const warn = finding('warn')
export const fail = finding('fail')

/** What stops a command is a finding here. */
export function failed(check: string, error: unknown): Finding {
  if (!(error instanceof Problem)) throw error
  const [detail = '', ...advice] = error.lines
  return fail(check, detail, advice.join(' '))
}
