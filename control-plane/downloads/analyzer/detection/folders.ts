/** Paths of a project: relative to its root, with `/`; the root itself is ''. */

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '' : path.slice(0, slash)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function under(folder: string, name: string): string {
  const parts: string[] = []
  for (const part of `${folder}/${name}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

export function isUnder(folder: string, path: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`)
}

/** `a/b` seen from `a` is `b`. */
export function within(folder: string, path: string): string {
  return folder === '' ? path : path.slice(folder.length + 1)
}

/** The folder itself, then what it lies in, up to the root. */
export function upwards(folder: string): string[] {
  const folders = [folder]
  for (let at = folder; at !== ''; folders.push(at)) at = folderOf(at)
  return folders
}

/** The deepest of `folders` that a path lies in. */
export function nearest(folders: ReadonlySet<string>, path: string): string | null {
  return upwards(folderOf(path)).find((folder) => folders.has(folder)) ?? null
}

const ASIDE =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testdata|testing|fixtures?|mocks?|docs?|_?examples?|samples?|demos?|bench(?:mark)?s?|stubs|cookiecutter[^/]*)\//i

/** Tests, documents and examples show an application; they are none that anybody runs. */
export function isAside(path: string): boolean {
  return ASIDE.test(path)
}
