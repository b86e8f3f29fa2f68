/** Cluster names like `app.production` are found through the search list of resolv.conf, as libc would. */
export function searched(name: string, resolvConf: string): string[] {
  if (name.endsWith('.')) return []
  const domains = /^[ \t]*search[ \t]+(.+)$/m.exec(resolvConf)?.[1]?.trim().split(/\s+/) ?? []
  return domains.slice(0, 6).map((domain) => `${name}.${domain}`)
}
