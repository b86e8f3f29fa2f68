/** Verified from both sides, live, and tried: each asked of the service, which has the last word. */
import { setTimeout as wait } from 'node:timers/promises'
import { LIMITS } from '../../../../../shared/limits.ts'
import { addressesOf, type Api, type CheckAnswer, type Facts, type Refused } from '../../api.ts'
import type { Application } from '../../detection/application.ts'
import { Problem } from '../../../command-line/exit.ts'
import type { Task } from '../command.ts'
import type { LookedAt } from '../look-at.ts'
import { checkLines, refusedOutcome } from '../show-checks.ts'
import { verified } from '../verify.ts'
import type { Steps } from './steps.ts'

interface Here {
  readonly looked: LookedAt
  readonly application: Application
  readonly facts: Facts
  readonly api: Api
}

export async function verifyStep(task: Task, steps: Steps, here: Here): Promise<void> {
  steps.begin('verify')
  for (let tries = 1; ; tries++) {
    const { answer } = await verified(task, here.api, here.facts, here)
    if ('refused' in answer) throw refusal(task, refusedOutcome(task, answer.refused).text)
    const { status, checks } = answer.done
    const warned = checks.filter((check) => check.status === 'warn').length
    const hints =
      warned === 0
        ? ''
        : `, ${warned} with a warning (service-analyzer verify shows ${warned === 1 ? 'it' : 'them'})`
    if (status === 'pass') return steps.done('verify', `${checks.length} checks${hints}`)
    // what was started a moment ago may not have been seen by everybody yet
    if (tries === LIMITS.setupVerifyTriesMax || !isOfTheService(checks)) {
      const failing = checks.filter((check) => check.status !== 'pass' && check.status !== 'skip')
      task.show(checkLines(failing, task.terminal).join('\n'))
      throw new Problem('checks_fail', 'Some checks do not pass yet; see above for what to do.')
    }
    await pause(task, 'Waiting for the service to notice')
  }
}

const isOfTheService = (checks: readonly CheckAnswer[]) =>
  checks.every(({ status, source }) => status !== 'fail' || source !== 'self_report')

/** Asks, unless it is live already. */
export async function goLiveStep(task: Task, steps: Steps, api: Api): Promise<Facts> {
  const facts = await api.facts()
  steps.begin('go_live')
  if (facts.protection === 'on') steps.done('go_live', 'protection is already on')
  else {
    await agree(task, facts)
    const live = await task.terminal.during('Going live', () => api.goLive({ isAnyway: false }))
    if ('refused' in live) throw refusal(task, refusedOutcome(task, live.refused).text)
    steps.done('go_live', 'protection is on')
  }
  if (facts.integration_completed_at !== null) {
    steps.done('complete', 'passed before')
    return api.facts()
  }
  steps.begin('complete')
  const refused = await tryUntilHeard(task, facts, api)
  if (refused !== null) throw refusal(task, refusedOutcome(task, refused).text)
  steps.done('complete', 'front page, sign-in, application and sign-out work')
  return api.facts()
}

/** In sdk mode an application hears by itself, seconds later, that it is live. */
async function tryUntilHeard(task: Task, { mode }: Facts, api: Api): Promise<Refused | null> {
  for (let tries = 1; ; tries++) {
    const tried = await task.terminal.during('Testing a sign-in from end to end', () =>
      api.complete(),
    )
    if ('done' in tried) return null
    if (mode !== 'sdk' || tries === LIMITS.setupVerifyTriesMax) return tried.refused
    await pause(task, 'Waiting for the application to notice')
  }
}

const pause = (task: Task, label: string) =>
  task.terminal.during(label, () => wait(LIMITS.setupVerifyPauseMs))

async function agree({ isAgreed, terminal }: Task, facts: Facts) {
  if (isAgreed) return
  if (!terminal.isInteractive)
    throw new Problem(
      'confirmation_needed',
      'This needs your consent, and there is no terminal to ask. Protection stays off.',
      'To agree in advance: --yes',
    )
  const what = addressesOf(facts)[0] ?? `tenant ${facts.tenant_id}`
  if (
    !(await terminal.confirm(`Go live? From then on every request to ${what} requires a sign-in.`))
  )
    throw new Problem('declined', 'Protection stays off.')
}

function refusal(task: Task, text: string): Problem {
  task.show(text)
  return new Problem('checks_fail', 'The service refused; see above for what is missing.')
}
