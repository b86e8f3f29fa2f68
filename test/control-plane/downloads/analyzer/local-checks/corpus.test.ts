/** What apply writes is what verify looks for: every project of the corpus, before and after. */
// long: every project of the corpus, integrated in both modes and checked
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { detect } from '../../../../../control-plane/downloads/analyzer/detection/detect.ts'
import { planFor } from '../../../../../control-plane/downloads/analyzer/edits/plan-for.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { BASE_URL, checkAll } from './project-here.ts'

const CORPUS = new URL('../../../../fixtures/projects/', import.meta.url).pathname
const CODE = /\.[cm]?[jt]sx?$/

for (const mode of ['gateway', 'sdk'] as const)
  t.test(`what is written for ${mode} is found mounted, and what is not is not`, async (t) => {
    let count = 0
    for (const name of readdirSync(CORPUS)) {
      const root = temporaryFolder(t)
      cpSync(join(CORPUS, name), root, { recursive: true })
      const project = await openProject(root)
      // one of several stays open until the last of them is written
      const written: (() => Promise<void>)[] = []
      const { applications } = await detect(project)
      for (const application of applications) {
        const wishes = {
          mode,
          baseUrl: BASE_URL,
          tenantId: 'acme',
          publicKeyPem: null,
          sdkUrl: `${BASE_URL}/sdk`,
        }
        const { edits, manual } = await planFor(project, application, wishes, applications)
        if (!edits.some(({ path }) => CODE.test(path))) continue
        const look = async () => (await checkAll(root, { application, tenant: { mode } })).of
        const before = (await look())('middleware_mounted')
        // of two in one folder the first may be done already
        t.match(before, { status: /fail|warn/, nextAction: /\w{3}/ }, `${name}: ${before.detail}`)
        for (const { path, after } of edits) {
          mkdirSync(dirname(join(root, path)), { recursive: true })
          writeFileSync(join(root, path), after)
        }
        written.push(async () => {
          const of = await look()
          const after = of('middleware_mounted')
          t.match(after, { status: 'pass' }, `${name} ${application.folder}: ${after.detail}`)
          const others = of('listeners_guarded')
          const isLeft = manual.some(({ text }) =>
            /^(?:Put the code that answers|Mount the middleware)/.test(text),
          )
          const said = `${name} ${application.folder}: ${others.detail}`
          t.match(others.status, isLeft ? /fail|warn/ : 'pass', said)
        })
        count++
      }
      for (const look of written) await look()
    }
    t.ok(count > 30, `${count} applications`)
  })
