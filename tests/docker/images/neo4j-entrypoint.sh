#!/bin/sh
# What the tests use of the official image's entry point: NEO4J_AUTH, and NEO4J_* for settings
# (one _ is a dot, two are an underscore). Its `memory recommendations`, TLS and plugins are not here.
set -eu
env | sed -n 's/^NEO4J_\([a-z]\)/\1/p' | while IFS='=' read -r name value; do
    printf '%s=%s\n' "$(printf %s "$name" | sed 's/__/\t/g; s/_/./g; s/\t/_/g')" "$value"
done >> /neo4j/conf/neo4j.conf
if [ ! -e /data/dbms/auth.ini ]; then
    java -cp '/neo4j/lib/*' org.neo4j.cli.AdminTool dbms set-initial-password "${NEO4J_AUTH#neo4j/}"
fi
for package in java.nio java.io sun.nio.ch java.util.concurrent; do
    set -- "$@" "--add-opens=java.base/$package=ALL-UNNAMED"
done
exec java "$@" -cp '/neo4j/lib/*' org.neo4j.server.CommunityEntryPoint \
    --home-dir=/neo4j --config-dir=/neo4j/conf --console-mode
