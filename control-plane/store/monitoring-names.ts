/** What is counted and what is watched: every name that a row of figures or an alert may have. */

export type FigureStep = 'minute' | 'hour' | 'day'
/** Quarters of an hour are for digests alone: the weeks of some places end in the middle of an hour. */
export type KeptStep = FigureStep | 'quarter'

/** edge: a gateway; application: its middleware in sdk mode; realm: the sign-in pages. */
export const FIGURE_SOURCES = ['edge', 'application', 'realm'] as const
export type FigureSource = (typeof FIGURE_SOURCES)[number]

export const FIGURE_OUTCOMES = {
  forwarded: 'A request went on to the application.',
  sign_in: 'A request was sent to sign in first.',
  sealed: 'A request for a sealed path was answered as if there were none.',
  refused: 'A request was refused for another reason.',
  terminate: 'A session was ended, since it moved to another device or network.',
  logout: 'Somebody signed out of an application.',
  step_up: 'A second factor was asked for.',
  signed_in: 'Somebody signed in.',
  asked: 'A sign-in was asked for something more, as a password that has run out.',
  failed: 'A sign-in had a wrong password or code.',
  denied: 'A sign-in was refused by a policy.',
  lockout: 'An account or an address failed too often, and has to wait from then on.',
  other: 'Something that this version does not know.',
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
  step_ups: 'Second factors that were asked for, at sign-in or because a session has moved.',
  sealed_hits: 'Requests for sealed paths, at the edge or in the application.',
  lockouts: 'Accounts and addresses that have failed too often and have to wait.',
  failed_deliveries: 'Webhook deliveries that were given up.',
} as const
export type AlertMetric = keyof typeof ALERT_METRICS
export const ALERT_METRIC_NAMES = Object.keys(ALERT_METRICS) as [AlertMetric, ...AlertMetric[]]
