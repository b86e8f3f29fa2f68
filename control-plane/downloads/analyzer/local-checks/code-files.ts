/** The files of one application that say how it behaves: code and settings, tests left out. */
import { LIMITS } from '../../../../shared/limits.ts'
import { isUnder } from '../detection/folders.ts'
import { lineAt } from '../syntax/places.ts'
import type { LookedAt } from './looked-at.ts'

const CODE =
  /\.(?:[mc]?[jt]sx?|py|rb|ru|php|java|kt|kts|cs|go|erb|ya?ml|properties|json|toml|ini|cfg|sh)$|(?:^|\/)(?:Dockerfile|Procfile)$/
const ASIDE =
  /(?:^|\/)(?:tests?|__tests__|__mocks__|spec|e2e|cypress|docs|locales?|migrations|fixtures)\/|\.(?:test|spec|min)\.|\.d\.[mc]?ts$|(?:^|\/)(?:package-lock|composer\.lock|pnpm-lock|npm-shrinkwrap)\b/

export async function* codeFiles(
  { project, application: { folder } }: Pick<LookedAt, 'project' | 'application'>,
  pattern = CODE,
) {
  let bytesRead = 0
  for (const { path, bytes } of project.files) {
    if (!isUnder(folder, path) || !pattern.test(path) || ASIDE.test(path)) continue
    bytesRead += bytes
    if (bytesRead > LIMITS.localChecksBytesMax) return
    const text = await project.read(path)
    if (text !== null) yield { path, text }
  }
}

/** Where the code has one of `patterns`, comments left out: file by file, in the patterns' order. */
export async function* foundInCode(at: LookedAt, patterns: readonly RegExp[]) {
  for await (const { path, text } of codeFiles(at))
    for (const pattern of patterns)
      for (const match of text.matchAll(pattern))
        if (!isInComment(text, match.index))
          yield { place: `${path}:${lineAt(text, match.index)}`, match, pattern }
}

/** Whether a comment begins before `index` on its line, in any of the languages that we look at. */
function isInComment(text: string, index: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', index - 1) + 1, index)
  return /^\s*(?:\/\/|#|\*|\/\*|--|;)|(?:^|\s)(?:\/\/|#)\s/.test(line)
}
