import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { planHere } from '../../../../control-plane/downloads/analyzer/commands/plan-here.ts'
import { openProject } from '../../../../control-plane/downloads/analyzer/project/open-project.ts'

const BASE = 'https://service.example'
const WISHES = {
  mode: 'gateway',
  baseUrl: BASE,
  tenantId: null,
  publicKeyPem: null,
  sdkUrl: `${BASE}/api/v1/sdk/node`,
} as const

void t.test('a guide whose code reaches out is refused on this side too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'guide-code-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'server.mjs'), 'const app = express()\ncheck()\n')
  const planOf = async (
    replace: string,
    find = 'const app = express()',
    mode: 'gateway' | 'connector' = 'gateway',
  ) => {
    const edit = { path: 'server.mjs', action: 'modify', find, replace, why: '' }
    const guide = {
      guide_id: 'a',
      framework: 'express',
      created_at: '2026-01-01T00:00:00.000Z',
      edits: [edit],
    }
    return planHere(await openProject(folder), [], { wishes: { ...WISHES, mode }, guide })
  }
  const good = await planOf('const app = express()\napp.use(verifyClaims().express())')
  t.equal(good.edits.length, 1)
  t.same(good.notes, [], 'as the guide says')
  const added = 'const app = express()\napp.use(verifyClaims().express())'
  const { notes } = await planOf(added, undefined, 'connector')
  t.match(notes, [/a connector that runs beside it.*service-connector join/], 'whoever wrote it')
  for (const added of ["fetch('https://evil.example')", "import('child_' + 'process')"])
    await t.rejects(planOf(`const app = express()\n${added}`), { code: 'guide_refused' }, added)
  await t.rejects(planOf('// check() stood here\n', 'check()\n'), { code: 'guide_refused' })
})
