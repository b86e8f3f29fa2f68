export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** What mends it; '' where nothing is to be mended. */
  readonly fix: string
}

type Find = (check: string, detail: string) => Finding
type FindToMend = (check: string, detail: string, fix: string) => Finding

const finding =
  (status: Finding['status']) =>
  (check: string, detail: string, fix = ''): Finding => ({ check, status, detail, fix })

export const ok: Find = finding('ok')
export const skip: Find = finding('skip')
export const warn: FindToMend = finding('warn')
export const fail: FindToMend = finding('fail')
