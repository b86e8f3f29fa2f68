/** Ports that are somebody else's: of a database, a mail server, a proxy that the code asks. */
import type { Node } from '@babel/types'
import { keyOf } from '../../syntax/bindings.ts'
import type { Source } from '../../syntax/parse.ts'
import { ancestorsOf } from '../../syntax/walk.ts'

const OTHERS =
  /redis|irc|network|mongo|mysql|maria|postgre|^pg|database|^db|db$|smtp|imap|pop3|mail|amqp|rabbit|kafka|elastic|memcache|ldap|proxy|ssh|ftp|rtmp|rtsp|mqtt|influx|graphite|live-?reload|debug|inspect|https$|^ssl|^tls|redirect|cassandra|couch|consul|nats|metrics|connection/i
const BESIDE = /^(?:user|username|password|pass|database|dbname|db|dialect|auth|service|path)$/i
/** Where these listen by custom. */
const PORTS: ReadonlySet<number> = new Set([
  ...[21, 22, 25, 110, 143, 389, 465, 587, 636, 993, 995, 1433, 1521, 3306, 5432, 5672, 6379],
  ...[6660, 6667, 6669, 6697, 9042, 9092, 9200, 9300, 11_211, 27_017, 35_729],
])

export const isCustomaryElsewhere = (port: number) => PORTS.has(port)
export const isForeignName = (name: string) => OTHERS.test(name)

export function isForeignPort(source: Source, node: Node, port: number): boolean {
  if (PORTS.has(port)) return true
  const file =
    source.path
      .split('/')
      .at(-1)
      ?.replace(/\.\w+$/, '') ?? ''
  if (OTHERS.test(file)) return true
  const object = source.parents.get(node)
  if (object?.type === 'ObjectExpression')
    for (const beside of object.properties)
      if (beside.type === 'ObjectProperty' && BESIDE.test(keyOf(beside.key) ?? '')) return true
  const names: (string | null)[] =
    node.type === 'AssignmentExpression' ? namesOfMember(node.left) : []
  for (const around of ancestorsOf(source.parents, node))
    if (around.type === 'ObjectProperty') names.push(keyOf(around.key))
    else if (around.type === 'VariableDeclarator') names.push(keyOf(around.id))
    else if (around.type === 'AssignmentExpression') names.push(...namesOfMember(around.left))
    else if (around.type === 'CallExpression' || around.type === 'NewExpression')
      names.push(...namesOfMember(around.callee))
  return names.some((name) => name !== null && OTHERS.test(name))
}

function namesOfMember(node: Node): (string | null)[] {
  if (node.type === 'MemberExpression') return [...namesOfMember(node.object), keyOf(node.property)]
  return [keyOf(node)]
}
