/**
 * How much of well-known JavaScript applications is found right, first offered first, and how many edits.
 * No registry hands them out, so that no test fetches them: `score.ts FOLDER` reads `FOLDER/owner+name`.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WISHES } from '../../../control-plane/downloads/analyzer/edits/projects.ts'
import { lookAt } from '../../stranger.ts'
import { editVerdict } from '../edit-verdict.ts'
import type { WellKnown } from './answers.ts'
import { FIRST_WELL_KNOWN } from './first.ts'
import { SECOND_WELL_KNOWN } from './second.ts'

async function wrongOf({ answers }: WellKnown, folder: string): Promise<string[]> {
  const [first] = await lookAt(folder, WISHES)
  const found = first?.application
  const at = found?.mount ? `${found.mount.path}:${found.mount.line}` : null
  const wrongs = answers.map(({ framework, mounts, entries, ports, health }) =>
    [
      framework === (found?.framework ?? null) ? [] : `framework ${found?.framework}`,
      mounts.includes(at) ? [] : `mount ${at}`,
      entries.includes(found?.entry?.path ?? '') ? [] : `entry ${found?.entry?.path}`,
      ports.includes(found?.port ?? null) ? [] : `port ${found?.port}`,
      health.includes(found?.healthPath ?? null) ? [] : `health ${found?.healthPath}`,
    ].flat(),
  )
  const [least = []] = wrongs.sort((a, b) => a.length - b.length)
  if (first === undefined) return least
  const copy = mkdtempSync(join(tmpdir(), 'well-known-'))
  const verdict = await editVerdict(first, folder, join(copy, 'copy'))
  rmSync(copy, { recursive: true })
  return verdict.kind === 'wrong' ? [...least, `edit ${verdict.why}`] : least
}

async function score(title: string, set: readonly WellKnown[], folder: string) {
  let right = 0
  const there = set.filter(({ name }) => existsSync(join(folder, name.replace('/', '+'))))
  for (const one of there) {
    const wrong = await wrongOf(one, join(folder, one.name.replace('/', '+')))
    if (wrong.length === 0) right++
    else console.log(`${one.name}: ${wrong.join(', ')}`)
  }
  console.log(`${title}: everything right of ${right} of ${there.length}, ${set.length} are known`)
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Where are they? score.ts FOLDER')
await score('first', FIRST_WELL_KNOWN, folder)
await score('second', SECOND_WELL_KNOWN, folder)
