/** What starts an application, as its own package.json has it. */
import { under, upwards } from '../../detection/folders.ts'
import { builtStart } from '../../detection/node/built-start.ts'
import { readManifest } from '../../detection/node/manifest.ts'
import type { Application } from '../../detection/application.ts'
import { isNode } from '../../edits/notes.ts'
import { startOf } from '../../local-checks/asked-locally.ts'
import type { Project } from '../../project/project.ts'
import { visibleText } from '../../../command-line/words.ts'

export async function startCommand(project: Project, application: Application): Promise<string> {
  if (!isNode(application)) return startOf(application)
  const { folder, packageManager, entry } = application
  const at = upwards(folder).find((above) => project.has(under(above, 'package.json'))) ?? folder
  const scripts = (await readManifest(project, under(at, 'package.json')))?.scripts
  const runner = packageManager ?? 'npm'
  const where = at === '' ? '' : ` (in ${visibleText(at)})`
  const built = await builtStart(project, application)
  if (scripts?.has('start'))
    return `${built?.build ? `${built.build} && ` : ''}${runner} start${where}`
  const [script] = ['dev', 'serve', 'server'].filter((name) => scripts?.has(name))
  if (script !== undefined) return `${runner} run ${script}${where}`
  return entry === null ? `${runner} start${where}` : `node ${visibleText(entry.path)}`
}
