import t from 'tap'
import type { Api } from '../../../../../control-plane/downloads/analyzer/api.ts'
import type { Task } from '../../../../../control-plane/downloads/analyzer/commands/command.ts'
import { verified } from '../../../../../control-plane/downloads/analyzer/commands/verify.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { applicationOf, BASE_URL, folderWith, TENANT } from '../local-checks/project-here.ts'

t.test('what fails in the project fails, whatever is seen from outside later', async (t) => {
  const project = await openProject(folderWith(t, { 'server.js': 'listen()\n' }))
  const looked = { project, detection: { applications: [], remarks: [] } }
  const task = {
    world: { environment: {}, fetch: () => Promise.reject(new TypeError('fetch failed')) },
    access: { knownKey: async () => null, baseUrl: () => ({ text: BASE_URL }) },
    terminal: { during: (_label: string, work: () => unknown) => work() },
    given: { port: null },
  } as unknown as Task
  const api = {
    report: async () => undefined,
    probe: async () => ({ done: { status: 'pass', checks: [] } }),
  } as unknown as Api
  const facts = TENANT as Awaited<ReturnType<Api['facts']>>
  const here = { looked, application: applicationOf() }
  const { checks, answer } = await verified(task, api, facts, here)
  t.match(
    checks.find(({ check }) => check === 'middleware_mounted'),
    { status: 'fail' },
  )
  t.match(answer, { done: { status: 'fail' } })
  t.match((await verified(task, api, facts, null)).answer, { done: { status: 'pass' } })
})
