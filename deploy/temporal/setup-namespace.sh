#!/bin/sh
# Creates the namespace and the search attributes of Amble. Repeated, it changes nothing.
# In the environment: TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, which the CLI reads itself.
set -eu
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 3d

# The servers learn of a new namespace within seconds.
tries=0
until known=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" 2>&1); do
  tries=$((tries + 1))
  if [ "$tries" -ge 30 ]; then
    echo "$known" >&2
    exit 1
  fi
  sleep 1
done
for name in AmbleCrawl AmbleDomain AmbleOutcome; do
  echo "$known" | grep -qw "$name" ||
    temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type Keyword
done

# And of new attributes within a minute. Workers that start before that run workflows without them at first.
tries=0
until counted=$(temporal workflow count --namespace "$TEMPORAL_NAMESPACE" \
  --query "AmbleCrawl = 'none' AND AmbleDomain = 'none' AND AmbleOutcome = 'none'" 2>&1); do
  tries=$((tries + 1))
  if [ "$tries" -ge 120 ]; then
    echo "$counted" >&2
    exit 1
  fi
  sleep 1
done
