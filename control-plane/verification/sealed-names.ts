/**
 * Under which addresses the sealed check looks for a page: its own, and one of each kind that common
 * frameworks serve it under. An old middleware, or a balancer that leads past it, is seen by these.
 */
export function namesOfSealed(prefix: string): readonly string[] {
  if (prefix === '/') return [prefix]
  return [
    prefix,
    `${prefix}.html`,
    `${prefix}.json`,
    `${prefix}::$DATA`,
    `/index.php${prefix}`,
    `/_next/data/service-verify${prefix}.json`,
    `/page-data${prefix}/page-data.json`,
  ]
}
