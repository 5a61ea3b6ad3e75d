load helpers

@test "T10 plan: each subcommand has its words and its options" {
  echo 'stages: [{id: a}]' >p.yaml
  fails 2 "'chek' is nothing that plans have (is 'check' meant?)" "$garth" plan chek p.yaml
  fails 2 "'garth plan check' wants FILE" "$garth" plan check
  fails 2 "'garth plan check' takes FILE and no more" "$garth" plan check p.yaml q.yaml
  fails 2 "'garth plan schema' takes no word and no more" "$garth" plan schema p.yaml
  fails 2 "'garth plan check' has no option '--dot'" "$garth" plan check --dot p.yaml
  fails 2 "either --dot or --mermaid" "$garth" plan graph --dot --mermaid p.yaml
  fails 3 "there is no plan file 'none.yaml'" "$garth" plan check none.yaml
  fails 2 '' "$garth" plan
}
