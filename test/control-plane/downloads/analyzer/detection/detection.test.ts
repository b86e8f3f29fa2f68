/**
 * Every project of test/fixtures/projects, and what is to be found in it: the expectation lies
 * outside, in test/fixtures/expectations, so that nothing in a project gives it away.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Application } from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import { detect } from '../../../../../control-plane/downloads/analyzer/detection/detect.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'

const FIXTURES = fileURLToPath(new URL('../../../../fixtures/', import.meta.url))
const names = readdirSync(join(FIXTURES, 'projects')).sort()

/** All that is expected is said; `remarks` only where a project is meant to cause some. */
interface Expectation {
  readonly applications: readonly Omit<Application, 'findings'>[]
  readonly remarks?: readonly string[]
}

for (const name of names)
  t.test(`${name}: what it is, where it starts and where the middleware goes`, async (t) => {
    const project = await openProject(join(FIXTURES, 'projects', name))
    const detection = await detect(project)
    const expected = JSON.parse(
      readFileSync(join(FIXTURES, 'expectations', `${name}.json`), 'utf8'),
    ) as Expectation
    const found = detection.applications.map(({ findings: _, ...application }) => application)
    t.strictSame(found, expected.applications)
    t.strictSame(detection.remarks, expected.remarks ?? [])

    for (const application of detection.applications) {
      for (const { at, detail, value } of application.findings) {
        t.ok(value !== '' && detail !== '', 'a finding says something')
        if (at === null) continue
        const lines = (await project.read(at.path))?.split('\n').length ?? 0
        t.ok(at.line >= 1 && at.line <= lines, `${at.path}:${at.line} is there`)
      }
      const has = (about: string) => application.findings.some((one) => one.about === about)
      t.ok(has('framework') && has('language'))
      t.equal(has('sign_in'), application.signIn.length > 0)
      t.equal(has('health'), application.healthPath !== null)
    }
  })

t.test('every project has its expectation, and every expectation its project', async (t) => {
  const expected = readdirSync(join(FIXTURES, 'expectations')).sort()
  t.same(
    expected,
    names.map((name) => `${name}.json`),
  )
})

t.test('version control takes every file of them, whatever they are called', async (t) => {
  const asked = ['ls-files', '--others', '--ignored', '--exclude-standard', '--', 'projects']
  const ignored = execFileSync('git', asked, { cwd: FIXTURES, encoding: 'utf8' })
  t.equal(ignored, '')
})
