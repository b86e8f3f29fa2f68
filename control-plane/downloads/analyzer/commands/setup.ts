/** From nothing to live in one command: what the other commands do, one after the other. */
import { realpath } from 'node:fs/promises'
import { addressesOf, type Api, type Facts } from '../api.ts'
import type { Application } from '../detection/application.ts'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { journalWorld } from '../journal/world.ts'
import { wrap } from '../../command-line/words.ts'
import type { Command, Outcome, Task } from './command.ts'
import { chooseApplication, lookAt, nameOf, type LookedAt } from './look-at.ts'
import { applyStep } from './setup/apply-step.ts'
import { connectorStep } from './setup/connector-step.ts'
import { goLiveStep, verifyStep } from './setup/last-steps.ts'
import { provideSecret } from './setup/client-secret.ts'
import { signInStep } from './setup/sign-in-step.ts'
import { startCommand } from './setup/start-command.ts'
import { createSteps, type Steps } from './setup/steps.ts'
import { waitForStart } from './setup/wait-for-start.ts'
import { recoverFirst } from './write-edits.ts'

export const setup: Command = {
  name: 'setup',
  summary: 'takes you from sign-in to live, step by step; asks before it changes anything',
  help: [
    'Signs in with the browser, finds the application, shows and writes the changes, installs the package, does a dry run, waits until you start the application, verifies it locally and from outside, goes live and tests one sign-in. It asks twice: before it writes and before it goes live.',
    'You can press Ctrl-C at any step and run it again: it continues where it stopped. “undo” reverts it.',
    'Without a terminal it needs SERVICE_ANALYZER_KEY and --yes.',
  ],
  options: ['app', 'port', 'mode', 'rules', 'full', 'no-browser'],
  takesFolder: true,
  documented: {
    steps: 'a list of {step, state, detail}; state is done, failed or open',
    tenant: '{tenant_id, mode, protection, edge_urls}, or null before the sign-in',
    application: 'the folder and framework of the application, or null',
    written: 'the paths written this time',
  },
  async run(task) {
    const steps = createSteps(task)
    const found: Found = { facts: null, application: null, written: [] }
    try {
      await goThrough(task, steps, found)
      return outcomeOf(task, steps, found, null)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      steps.fail(error.lines[0] ?? '')
      const [first = '', ...advice] = error.lines
      task.terminal.complain(first, advice)
      return outcomeOf(task, steps, found, error)
    }
  },
}

interface Found {
  facts: Facts | null
  application: Application | null
  written: readonly string[]
}

async function goThrough(task: Task, steps: Steps, found: Found): Promise<void> {
  const { environment, homeFolder } = task.world
  const facts = (found.facts = await signInStep(task, steps))
  const api = await task.access.api()
  if (facts.mode === 'connector') steps.withConnector()

  steps.begin('application')
  const root = await realpath(task.folder).catch(() => task.folder)
  await recoverFirst(task, root, journalWorld(environment, homeFolder))
  const looked = await lookAt(task)
  const application = (found.application = await chooseApplication(task, looked))
  const at = application.port === null ? '' : `, port ${application.port}`
  steps.done('application', `${nameOf(application)}${at}`)

  found.written = await applyStep(task, steps, looked, application, facts)
  const now = await lookAgain(task, application)
  if (facts.mode === 'connector') {
    const port = task.given.port ?? now.application.port
    await connectorStep(task, steps, { tenantId: facts.tenant_id, port, api })
  }
  await startStep(task, steps, now, facts, api)
  await verifyStep(task, steps, { ...now, facts, api })
  found.facts = await goLiveStep(task, steps, api)
}

/** As it lies there now. */
async function lookAgain(task: Task, before: Application) {
  const looked = await lookAt(task)
  const { applications } = looked.detection
  const inFolder = applications.filter(({ folder }) => folder === before.folder)
  const isSame = ({ mount, entry }: Application) =>
    (mount ?? entry)?.path === (before.mount ?? before.entry)?.path
  return { looked, application: inFolder.find(isSame) ?? inFolder[0] ?? before }
}

async function startStep(
  task: Task,
  steps: Steps,
  { looked, application }: { readonly looked: LookedAt; readonly application: Application },
  facts: Facts,
  api: Api,
): Promise<void> {
  steps.begin('start')
  if (facts.mode === 'sdk') await provideSecret(task, looked, application)
  const start = await startCommand(looked.project, application)
  task.terminal.remark(`Start or restart the application: ${start}`)
  const { port } = await waitForStart(task, { facts, application, api, start })
  steps.done(
    'start',
    port === null ? 'the service reaches it' : `the middleware answers on port ${port}`,
  )
}

function outcomeOf(task: Task, steps: Steps, found: Found, problem: Problem | null): Outcome {
  const { facts, application, written } = found
  const { columns, paint } = task.terminal
  const [message = '', ...advice] = problem?.lines ?? []
  const urls = facts === null ? [] : addressesOf(facts)
  const live = urls.length === 0 ? 'It is live.' : `It is live: ${urls.join(', ')}`
  const apps = task.given.apps.map((app) => `--app ${app}`)
  return {
    exit: problem?.exit ?? EXIT.done,
    text: problem === null ? paint('green', wrap(live, columns)) : steps.left(),
    fields: {
      steps: steps.fields(),
      tenant: facts && {
        tenant_id: facts.tenant_id,
        mode: facts.mode,
        protection: facts.protection,
        edge_urls: facts.edge_urls,
      },
      application: application && { folder: application.folder, framework: application.framework },
      written,
      ...(problem !== null && { problem: { code: problem.code, message, advice } }),
    },
    next:
      problem === null
        ? { text: 'To revert everything at any time:', command: task.line('undo') }
        : { text: 'To continue where it stopped:', command: task.line('setup', ...apps) },
  }
}
