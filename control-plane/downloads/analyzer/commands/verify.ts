import type { Application } from '../detection/application.ts'
import { createGit } from '../journal/git.ts'
import { runLocalChecks } from '../local-checks/run-local-checks.ts'
import type { Api, Facts } from '../api.ts'
import type { Command, Task } from './command.ts'
import { appName, chooseApplication, lookAt, type LookedAt } from './look-at.ts'
import { HELD_BACK, probed, verificationOutcome } from './probe.ts'
import { checkLines, refusedOutcome } from './show-checks.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'checks the integration, in this project and from outside',
  help: [
    'First it checks the project: the middleware is mounted, the key is in place, no secret is committed. The results are sent to the service as a self-report. Then the service sends genuine and forged probes to each hostname. Only what the service sees itself counts for go-live; anything found open here blocks it.',
    'To keep a listener open on purpose, say so in the line above it: // service-analyzer-open: the reason. It is reported each time.',
    'If no application is found in the folder, only the service checks.',
  ],
  options: ['app', 'port'],
  takesFolder: true,
  documented: {
    status: 'pass, fail or unknown: the overall result',
    checks: 'a list of {check, status, detail, next_action, at, source}',
    held_back: HELD_BACK,
    application: 'the folder checked, or null',
    local_checks: 'the local results: {check, status, detail, next_action}',
  },
  async run(task) {
    const api = await task.access.api()
    const looked = await lookAt(task)
    const facts = await api.facts()
    const isHere = looked.detection.applications.length > 0
    const application = isHere ? await chooseApplication(task, looked) : null
    if (application === null)
      task.warn('No application found in this folder, so only the service checks, from outside.')
    const { checks, answer } = await verified(
      task,
      api,
      facts,
      application && { looked, application },
    )
    const fields = { application: application && appName(application), local_checks: checks }
    if ('refused' in answer) {
      const refused = refusedOutcome(task, answer.refused)
      const lines = checkLines(checks, task.terminal)
      return {
        ...refused,
        text: [...lines, ...(lines.length === 0 ? [] : ['']), refused.text].join('\n'),
        fields: { ...refused.fields, ...fields },
      }
    }
    return verificationOutcome(task, answer.done, { ...fields, protection: facts.protection })
  },
}

/** The checks of this project, reported, and then those of the service. */
export async function verified(
  task: Task,
  api: Api,
  facts: Facts,
  here: { readonly looked: LookedAt; readonly application: Application } | null,
) {
  const found = here === null ? [] : await checkHere(task, here.looked, here.application, facts)
  const checks = found.map(({ nextAction, ...check }) => ({ ...check, next_action: nextAction }))
  if (here !== null) {
    const { framework, language } = here.application
    await api.report({ framework, language, checks })
  }
  const answer = await probed(task, api)
  // what a probe sees from outside says nothing of what only this project shows
  const hasFailed = checks.some(({ status }) => status === 'fail')
  if ('refused' in answer || !hasFailed) return { checks, answer }
  return { checks, answer: { done: { ...answer.done, status: 'fail' as const } } }
}

export async function checkHere(
  task: Task,
  { project }: LookedAt,
  application: Application,
  facts: Facts,
) {
  const { environment, fetch } = task.world
  const key = await task.access.knownKey()
  return task.terminal.during('Checking the project', () =>
    runLocalChecks(project, application, {
      baseUrl: task.access.baseUrl().text,
      tenant: facts,
      secrets: key === null ? [] : [key.text],
      environment,
      port: task.given.port,
      fetch,
      git: createGit(environment),
    }),
  )
}
