/** Laravel: a middleware class, and the list that it comes first in. */
import { PHP } from '../../../../../shared/integration/snippets/php.ts'
import type { Application } from '../../detection/application.ts'
import { under } from '../../detection/folders.ts'
import { NO_PARTS, shown, together, type Parts } from '../../plan.ts'
import type { Project } from '../../project/project.ts'
import { lineOfMatch, newFile } from './parts.ts'

const CLASS = '\\App\\Http\\Middleware\\ServiceClaims::class'

export async function laravelParts(project: Project, application: Application): Promise<Parts> {
  const { folder } = application
  const snippet = PHP['laravel']?.edge
  if (snippet === undefined) return NO_PARTS
  const file = await newFile(project, under(folder, snippet.file), snippet.code, 'ServiceClaims')
  const composer = (await project.read(under(folder, 'composer.json'))) ?? ''
  const hasClient = /"guzzlehttp\/guzzle"|"laravel\/framework"/.test(composer)
  const command = hasClient ? NO_PARTS : { ...NO_PARTS, commands: [snippet.install] }
  return together(file, await mountParts(project, folder), command)
}

async function mountParts(project: Project, folder: string): Promise<Parts> {
  const kernel = under(folder, 'app/Http/Kernel.php')
  const old = await project.read(kernel)
  if (old !== null) {
    if (old.includes('ServiceClaims')) return NO_PARTS
    const line = lineOfMatch(old, /protected\s+\$middleware\s*=/)
    return shown(kernel, line, 'Put this at the top of $middleware:', `        ${CLASS},`)
  }
  const bootstrap = under(folder, 'bootstrap/app.php')
  const text = await project.read(bootstrap)
  if (text?.includes('ServiceClaims') === true) return NO_PARTS
  const line = lineOfMatch(text, /->withMiddleware\(/)
  const what = 'Put this first in the function passed to ->withMiddleware():'
  return shown(bootstrap, line, what, `        $middleware->prepend(${CLASS});`)
}
