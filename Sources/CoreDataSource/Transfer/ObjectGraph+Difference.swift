extension ObjectGraph {
    /// The first difference from another graph, as a sentence; nil if the graphs are equal. It may show values.
    package func difference(from expected: ObjectGraph) -> String? {
        for entity in Set(entityNames).union(expected.entityNames).sorted() {
            let (found, wanted) = (records[entity] ?? [], expected.records[entity] ?? [])
            for (index, (one, other)) in zip(found, wanted).enumerated() where one != other {
                for name in Set(one.keys).union(other.keys).sorted() where one[name] != other[name] {
                    let texts = [one[name], other[name]].map { $0?.text ?? "absent" }
                    return "\(entity)[\(index)].\(name.text) is \(texts[0]) instead of \(texts[1])"
                }
            }
            if found.count != wanted.count {
                return "there are \(found.count) objects of \(entity) instead of \(wanted.count)"
            }
        }
        return nil
    }
}
