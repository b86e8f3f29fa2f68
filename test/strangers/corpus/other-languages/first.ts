/** Of public repositories, what a person read in them; read again since: 6 of 15 were right at first. */
import type { FrameworkName } from '../../../../control-plane/downloads/analyzer/detection/application.ts'

export interface OtherExpected {
  /** On GitHub, and the commit that was read. */
  readonly name: string
  readonly commit: string
  readonly framework: FrameworkName
  /** Any of these: where the code can be made into one program or another. */
  readonly mounts: readonly string[]
  readonly entries: readonly string[]
  /** The code's own, and what its image sets, if that is another. */
  readonly ports: readonly number[]
  readonly health: string | null
}

export const FIRST_IN_OTHER_LANGUAGES: readonly OtherExpected[] = [
  {
    name: 'janeczku/calibre-web',
    commit: '7ec475e1fe20893730fd8863f771489049c99d16',
    framework: 'flask',
    mounts: ['cps/__init__.py:87'],
    entries: ['cps.py'],
    ports: [8083],
    health: null,
  },
  {
    name: 'searxng/searxng',
    commit: '9fea41204fdfa7a5cfa15b0ebd12904c520478ce',
    framework: 'flask',
    mounts: ['searx/webapp.py:145'],
    entries: ['searx/webapp.py'],
    ports: [8888, 8080],
    health: '/healthz',
  },
  {
    name: 'benbusby/whoogle-search',
    commit: '13e52132e3b45328de4146818762c891b7e3d6f4',
    framework: 'flask',
    mounts: ['app/__init__.py:26'],
    entries: ['app/__main__.py', 'run'],
    ports: [5000],
    health: '/healthz',
  },
  {
    name: 'bookwyrm-social/bookwyrm',
    commit: 'db40a61c9eaa6872607ca499b91893914dc1c8cf',
    framework: 'django',
    mounts: ['bookwyrm/settings.py:128'],
    entries: ['manage.py', 'bookwyrm/wsgi.py'],
    ports: [8000],
    health: null,
  },
  {
    name: 'firefly-iii/firefly-iii',
    commit: 'a95b82b14cb01b6e40491f2a94c53b47b71766e7',
    framework: 'laravel',
    mounts: ['bootstrap/app.php:75'],
    entries: ['public/index.php'],
    ports: [8000],
    health: '/up',
  },
  {
    name: 'pterodactyl/panel',
    commit: '706db62c64d180f224f56c62953172c27daa5826',
    framework: 'laravel',
    mounts: ['app/Http/Kernel.php:42'],
    entries: ['public/index.php'],
    ports: [80, 8000],
    health: null,
  },
  {
    name: 'postalserver/postal',
    commit: '8ef89606bc34146fffba77a604dd824e6b1cdcc2',
    framework: 'rails',
    mounts: ['config/application.rb:20'],
    entries: ['config.ru'],
    ports: [5000],
    health: null,
  },
  {
    name: 'stringer-rss/stringer',
    commit: '65c6176ecec556787caf550703cf93d709c6a427',
    framework: 'rails',
    mounts: ['config/application.rb:26'],
    entries: ['config.ru'],
    ports: [3000, 8080],
    health: null,
  },
  {
    name: 'feedbin/feedbin',
    commit: '9bfc9f684afdc68b6c9bbd0d96e4a8e783608bf4',
    framework: 'rails',
    mounts: ['config/application.rb:13'],
    entries: ['config.ru'],
    ports: [3000],
    health: '/health_check',
  },
  {
    name: 'traggo/server',
    commit: '6321119c3c2d55f04e2e4967f6492aabd6067b76',
    framework: 'go',
    mounts: ['main.go:72', 'server/server.go:27'],
    entries: ['main.go'],
    ports: [3030],
    health: null,
  },
  {
    name: 'filebrowser/filebrowser',
    commit: '833d908884d5c801f30f5c098d7977177eb3a36b',
    framework: 'go',
    mounts: ['http/http.go:32', 'cmd/root.go:253'],
    entries: ['main.go'],
    ports: [8080, 80],
    health: '/health',
  },
  {
    name: 'writefreely/writefreely',
    commit: '6384f4667b5adb3a7c571c8da26b99f93db697ce',
    framework: 'go',
    mounts: ['app.go:564'],
    entries: ['cmd/writefreely/main.go'],
    ports: [8080],
    health: null,
  },
  {
    name: 'shopizer-ecommerce/shopizer',
    commit: '7460ceb86cb7c5feac5f0b057632655ae1cc9e5b',
    framework: 'spring',
    mounts: ['sm-shop/src/main/java/com/salesmanager/shop/application/ShopApplication.java:8'],
    entries: ['sm-shop/src/main/java/com/salesmanager/shop/application/ShopApplication.java'],
    ports: [8080],
    health: '/actuator/health',
  },
  {
    name: 'gothinkster/spring-boot-realworld-example-app',
    commit: 'ee17e31aafe733d98c4853c8b9a74d7f2f6c924a',
    framework: 'spring',
    mounts: ['src/main/java/io/spring/RealWorldApplication.java:6'],
    entries: ['src/main/java/io/spring/RealWorldApplication.java'],
    ports: [8080],
    health: null,
  },
  {
    name: 'Jackett/Jackett',
    commit: '7911696ca9726bc4dabce2e10a211a2c3efec672',
    framework: 'aspnet',
    mounts: ['src/Jackett.Server/Startup.cs:127', 'src/Jackett.Server/Startup.cs:164'],
    entries: ['src/Jackett.Server/Program.cs'],
    ports: [9117],
    health: '/health',
  },
]
