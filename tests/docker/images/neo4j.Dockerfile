# Stands in for neo4j:*-community where no image can be pulled (tests/install_docker_images.py).
FROM debian:bookworm-slim
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
       openjdk-17-jre-headless wget \
    && rm -rf /var/lib/apt/lists/*
COPY lib /neo4j/lib
COPY neo4j-entrypoint.sh /neo4j/entrypoint.sh
RUN mkdir --parents /neo4j/conf /data \
    && printf '%s\n' server.default_listen_address=0.0.0.0 server.directories.data=/data \
       db.tx_log.preallocate=false > /neo4j/conf/neo4j.conf
ENV NEO4J_HOME=/neo4j NEO4J_CONF=/neo4j/conf
VOLUME /data
EXPOSE 7474 7687
ENTRYPOINT ["sh", "/neo4j/entrypoint.sh"]
