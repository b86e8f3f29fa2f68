/** What one look has found: where, whether it is so, and what to do where it is not. */

export interface Finding {
  readonly subject:
    | 'state'
    | 'control_plane'
    | 'clock'
    | 'identity'
    | 'gateway'
    | 'application'
    | 'running'
  /** What it is called, as in "gateway-1 at gw.example:443". */
  readonly name: string
  /** `note`: worth knowing, and nothing depends on it. */
  readonly result: 'ok' | 'failed' | 'skipped' | 'note'
  /** What exactly stands in the way: the part of the way that is at fault. */
  readonly cause: FaultCause | null
  readonly detail: string
  /** What to do; '' where nothing is to be done. */
  readonly advice: string
}

type FaultCause =
  | 'folder'
  | 'not_joined'
  | 'name'
  | 'port'
  | 'silence'
  | 'proxy'
  | 'tls'
  | 'interception'
  | 'certificate'
  | 'clock'
  | 'answer'
  | 'refused'
  | 'no_gateway'

/** A part of the way that did not work. */
export interface Fault {
  readonly cause: FaultCause
  readonly detail: string
  readonly advice: string
}

type About = Pick<Finding, 'subject' | 'name'>

export const found = (about: About, detail: string): Finding => ({
  ...about,
  result: 'ok',
  cause: null,
  detail,
  advice: '',
})
export const failed = (about: About, fault: Fault): Finding => ({
  ...about,
  result: 'failed',
  ...fault,
})
export const noted = (about: About, detail: string): Finding => ({
  ...found(about, detail),
  result: 'note',
})
export const skipped = (about: About, detail: string): Finding => ({
  ...found(about, detail),
  result: 'skipped',
})
