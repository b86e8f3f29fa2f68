/** Rails: an initializer mounts itself. */
import { RUBY } from '../../../../../shared/integration/snippets/ruby.ts'
import type { Application } from '../../detection/application.ts'
import { under } from '../../detection/folders.ts'
import { NO_PARTS, shown, together, type Parts } from '../../plan.ts'
import type { Project } from '../../project/project.ts'
import { newFile } from './parts.ts'

export async function railsParts(project: Project, { folder }: Application): Promise<Parts> {
  const snippet = RUBY['rails']?.edge
  if (snippet === undefined) return NO_PARTS
  const path = under(folder, snippet.file)
  const file = await newFile(project, path, snippet.code, 'X-Service-')
  const gemfile = under(folder, 'Gemfile')
  const gems = await project.read(gemfile)
  if (gems !== null && /^\s*gem\s*\(?\s*['"]jwt['"]/m.test(gems)) return file
  if (gems === null && !project.has(gemfile))
    return together(
      file,
      shown(gemfile, null, 'Add the gem that verifies signatures:', "gem 'jwt'"),
    )
  return together(file, { ...NO_PARTS, commands: [snippet.install] })
}
