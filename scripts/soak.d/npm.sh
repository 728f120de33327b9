# An application of some hundred packages, and the programs in them. The first place resolves the versions.
cat >package.json <<'EOF'
{
  "name": "application", "version": "1.0.0", "private": true,
  "dependencies": { "axios": "^1", "express": "^4", "lodash": "^4" },
  "devDependencies": { "eslint": "^9", "prettier": "^3", "typescript": "^5", "webpack": "^5", "webpack-cli": "^5" }
}
EOF
npm() { command npm --no-audit --no-fund --no-update-notifier --loglevel=error --prefer-offline --cache="$kept/npm" "$@"; }
if [ -f "$kept/package-lock.json" ]; then
  cp "$kept/package-lock.json" .
  npm ci >&2
else
  npm install >&2
  cp package-lock.json "$kept"
fi
npm ls --all | tail -n +2
mkdir src
cat >src/index.js <<'EOF'
const lodash = require("lodash");
const express = require("express");
const application = express();
application.get("/", (request, response) => response.send(lodash.upperCase("hello there")));
module.exports = application;
EOF
cat >run.js <<'EOF'
const http = require("http");
const server = require("./src/index.js").listen(0, () =>
  http.get({ port: server.address().port }, async (response) => {
    for await (const part of response) console.log(part.toString());
    server.close();
  }),
);
EOF
echo 'export const next = (n: number): number => n + 1;' >next.ts
node run.js
npx tsc --outDir out next.ts
node -e 'console.log(require("./out/next.js").next(1))'
npx webpack --mode production --target node --output-path dist ./src/index.js >&2
npx eslint --no-config-lookup src
npx prettier --write src run.js >&2
npm ci >&2
sha256sum dist/main.js src/index.js run.js
(find node_modules ! -name .package-lock.json -printf '%P %y %m %l\n' && find node_modules -type f -exec sha256sum {} +) | sort | sha256sum
