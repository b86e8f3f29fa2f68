/** `node test/strangers/run.ts [name …]`: the table of what is found in all of them. Takes network. */
import { mkdirSync, mkdtempSync, rmSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WISHES } from '../control-plane/downloads/analyzer/edits/projects.ts'
import { treeOf, undoPlan, writePlan } from '../support/applied.ts'
import { faultsOf, fetchStranger, lookAt, unpack } from './stranger.ts'
import { STRANGERS, type Stranger } from './strangers.ts'

const kept = join(tmpdir(), 'strangers')
mkdirSync(kept, { recursive: true })
const wanted = new Set(process.argv.slice(2))

for (const stranger of STRANGERS)
  if (wanted.size === 0 || wanted.has(stranger.name))
    try {
      for (const line of await rowsOf(stranger)) console.log(line)
    } catch (error) {
      console.log(`${stranger.name}@${stranger.version} | FAILED | ${(error as Error).message}`)
      process.exitCode = 1
    }

async function rowsOf(stranger: Stranger): Promise<string[]> {
  const { name, version } = stranger
  const folder = mkdtempSync(join(tmpdir(), 'stranger-'))
  try {
    const there = join(kept, `${name.replace('/', '-').replace('@', '')}-${version}.tgz`)
    const tarball = existsSync(there) ? there : await fetchStranger(stranger, kept)
    await unpack(tarball, folder)
    const before = treeOf(folder)
    const startedMs = performance.now()
    const looked = await lookAt(folder, WISHES)
    const tookMs = Math.round(performance.now() - startedMs)
    if (looked.length === 0) return [`${name}@${version} | nothing found | | | ${tookMs} ms`]
    const rows: string[] = []
    for (const { application, plan } of looked) {
      const { framework, confidence, mount } = application
      const code = plan.edits.filter(({ path }) => !/package\.json$|\.pem$/.test(path))
      if (plan.edits.length > 0) {
        await writePlan(folder, plan, WISHES.sdkUrl)
        const faults = await faultsOf(folder, plan)
        if (faults.length > 0) throw new Error(faults.join('\n'))
        for (const { application, plan } of await lookAt(folder, WISHES))
          if (application.mount?.path === mount?.path && plan.edits.length > 0)
            throw new Error(
              `there is more to do a second time: ${plan.edits.map((edit) => edit.path).join(' ')}`,
            )
        await undoPlan(folder)
        if (treeOf(folder).join('\n') !== before.join('\n')) throw new Error('undo left something')
      }
      const said = code.length > 0 ? `edited ${code.map(({ path }) => path).join(' ')}` : 'shown'
      const steps = plan.manual.map(
        ({ path, line, text }) =>
          `${path}:${line} ${text.replace(/^.*Not done automatically because /, '').slice(0, 110)}`,
      )
      rows.push(
        `${name}@${version} | ${framework} | ${confidence} | ${mount?.path}:${mount?.line} | ${said} | ${steps.join(' ;; ')} | ${tookMs} ms`,
      )
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
