/** What is counted and what is watched: every name that a row of figures or an alert may have. */

export type FigureStep = 'minute' | 'hour' | 'day'
/** Quarters of an hour are for digests alone: the weeks of some places end in the middle of an hour. */
export type KeptStep = FigureStep | 'quarter'

/** edge: a gateway; application: its middleware in sdk mode; realm: the sign-in pages. */
export const FIGURE_SOURCES = ['edge', 'application', 'realm'] as const
export type FigureSource = (typeof FIGURE_SOURCES)[number]

export const FIGURE_OUTCOMES = {
  forwarded: 'A request was forwarded to the application.',
  sign_in: 'A request was redirected to sign-in.',
  sealed: 'A request for a sealed path was answered with 404.',
  refused: 'A request was refused for another reason.',
  terminate: 'A session was ended because it moved to another device or network.',
  logout: 'Someone signed out of an application.',
  step_up: 'A second factor was requested.',
  signed_in: 'Someone signed in.',
  asked: 'A sign-in needed a further step, such as replacing an expired password.',
  failed: 'A sign-in had a wrong password or code.',
  denied: 'A sign-in was refused by a policy.',
  lockout: 'An account was locked or an address blocked after too many failures.',
  other: 'Not known to this version.',
} as const
export type FigureOutcome = keyof typeof FIGURE_OUTCOMES

/** Somebody was not let in, or not to where they wanted. A lockout comes beside a failure. */
export const REFUSAL_OUTCOMES = ['sealed', 'refused', 'terminate', 'failed', 'denied'] as const

export interface Figure {
  readonly outcome: FigureOutcome
  /** '' where there is nothing to give a reason for. */
  readonly reason: string
  readonly count: number
}
export type Counted = Omit<Figure, 'count'>

/** What an alert can watch: each metric is a number of things that happened in a span of time. */
export const ALERT_METRICS = {
  refused_sign_ins: 'Sign-ins with a wrong password or code, or refused by a policy.',
  step_ups: 'Second factors requested at sign-in or because a session moved.',
  sealed_hits: 'Requests for sealed paths, at the edge or in the application.',
  lockouts: 'Accounts locked and addresses blocked after too many failures.',
  device_other_browser: 'Device checks that came from another browser than the sign-in.',
  device_break_glass: 'Sign-ins without a device check by people with emergency access.',
  failed_deliveries: 'Webhook deliveries that failed after all retries.',
} as const
export type AlertMetric = keyof typeof ALERT_METRICS
export const ALERT_METRIC_NAMES = Object.keys(ALERT_METRICS) as [AlertMetric, ...AlertMetric[]]
