/**
 * How much of applications in other languages is found right, first offered first. No registry hands
 * them out, so that no test fetches them: `score.ts FOLDER` reads `FOLDER/owner+name`.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { detect } from '../../../../control-plane/downloads/analyzer/detection/detect.ts'
import { openProject } from '../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { FIFTH_IN_OTHER_LANGUAGES } from './fifth.ts'
import { FIRST_IN_OTHER_LANGUAGES, type OtherExpected } from './first.ts'
import { SECOND_IN_OTHER_LANGUAGES } from './second.ts'
import { FOURTH_IN_OTHER_LANGUAGES } from './fourth.ts'
import { THIRD_IN_OTHER_LANGUAGES } from './third.ts'

const SCRIPTS = /^(?:javascript|typescript)$/i

async function wrongOf(one: OtherExpected, folder: string): Promise<string[]> {
  const { applications } = await detect(await openProject(folder))
  // a page's own server for development stands beside many of them
  const found = applications.find(({ language }) => !SCRIPTS.test(language))
  if (found === undefined) return ['framework nothing was found']
  const { framework, mount, entry, port, healthPath } = found
  const at = mount === null ? 'null' : `${mount.path}:${mount.line}`
  return [
    framework === one.framework ? [] : `framework ${framework}`,
    one.mounts.includes(at) ? [] : `mount ${at}`,
    one.entries.includes(entry?.path ?? '') ? [] : `entry ${entry?.path}`,
    port !== null && one.ports.includes(port) ? [] : `port ${port}`,
    healthPath === one.health ? [] : `health ${healthPath}`,
  ].flat()
}

async function score(title: string, set: readonly OtherExpected[], folder: string) {
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
await score('first', FIRST_IN_OTHER_LANGUAGES, folder)
await score('second', SECOND_IN_OTHER_LANGUAGES, folder)
await score('third', THIRD_IN_OTHER_LANGUAGES, folder)
await score('fourth', FOURTH_IN_OTHER_LANGUAGES, folder)
await score('fifth', FIFTH_IN_OTHER_LANGUAGES, folder)
