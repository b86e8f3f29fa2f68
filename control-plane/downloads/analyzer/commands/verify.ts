import type { Application } from '../detection/application.ts'
import { createGit } from '../journal/git.ts'
import { runLocalChecks } from '../local-checks/run-local-checks.ts'
import type { Facts } from '../api.ts'
import type { Command, Task } from './command.ts'
import { appName, chooseApplication, lookAt, type LookedAt } from './look-at.ts'
import { probed, verificationOutcome } from './probe.ts'
import { checkLines, refusedOutcome } from './show-checks.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'checks the integration, in this project and from outside',
  help: [
    'First the project itself: is the middleware mounted, the key in place, no secret committed. That is reported to the service, which labels it as a self-report. Then the service sends probes, true and forged, to each hostname. Going live takes what the platform has seen itself; what is found open here holds it back.',
    'A listener that is meant to be open says so in the line above it: // service-analyzer-open: the reason. It is named each time.',
    'Where no application is found in the folder, only the service looks.',
  ],
  options: ['app', 'port'],
  takesFolder: true,
  documented: {
    status: 'pass, fail or unknown: of all checks together',
    checks: 'a list of {check, status, detail, next_action, at, source}',
    application: 'the folder that was looked at, or null',
    local_checks: 'what was found here: {check, status, detail, next_action}',
  },
  async run(task) {
    const api = await task.access.api()
    const looked = await lookAt(task)
    const facts = await api.facts()
    const isHere = looked.detection.applications.length > 0
    const application = isHere ? await chooseApplication(task, looked) : null
    if (application === null)
      task.warn('No application is found in this folder, so only the service looks from outside.')
    const checked = application && (await checkHere(task, looked, application, facts))
    const checks = (checked ?? []).map(({ nextAction, ...check }) => ({
      ...check,
      next_action: nextAction,
    }))
    if (application !== null) {
      const { framework, language } = application
      await api.report({ framework, language, checks })
    }
    const answer = await probed(task, api)
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
    // what a probe sees from outside says nothing of what only this project shows
    const hasFailed = checks.some((check) => check.status === 'fail')
    const status = hasFailed ? 'fail' : answer.done.status
    return verificationOutcome(task, { ...answer.done, status }, fields)
  },
}

async function checkHere(
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
