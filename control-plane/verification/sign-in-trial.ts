/**
 * One sign-in from end to end, for real: what a browser would do, through the edge or at the
 * application itself, with a person who exists for it alone. Each step is a check of its own; the
 * first that fails, or cannot be taken, ends it.
 */
import { type CheckResult, resultsOf } from './checks.ts'
import type { Trial } from './trial.ts'
import { identityReceived, signedOut } from './trial-session-steps.ts'
import { signInCompleted, signInPageShown, signInStarted } from './trial-sign-in-steps.ts'

type TrialStep = (trial: Trial) => Promise<CheckResult>

const STEPS: readonly (readonly [check: string, step: TrialStep])[] = [
  ['sign_in_started', signInStarted],
  ['sign_in_page_shown', signInPageShown],
  ['sign_in_completed', signInCompleted],
  ['identity_received', identityReceived],
  ['signed_out', signedOut],
]

export async function trySignIn(trial: Trial): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  let isStopped = false
  for (const [check, step] of STEPS) {
    const result = !isStopped
      ? await step(trial)
      : resultsOf(check).skip('Not run: an earlier step has to pass first.')
    results.push(result)
    if (result.status === 'fail' || result.status === 'skip') isStopped = true
  }
  return results
}
