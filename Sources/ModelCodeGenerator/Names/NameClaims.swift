/// Decides which owner gets a name that several request.
///
/// The order in the model does not matter: a new entity must not take the name of an older one.
struct NameClaims {
    struct Claim: Hashable {
        /// The name of the entity or the composite.
        let owner: String
        let wanted: String
        /// Whether the model contains the name in this spelling.
        let isExact: Bool
    }

    /// The name of each owner.
    private(set) var names: [String: String] = [:]
    /// Claims for the same name, or for a name that is taken.
    private(set) var contested: [[Claim]] = []

    /// - Parameters:
    ///   - scope: The names that are taken; the claimed names are added to it.
    ///   - first: The owner that takes precedence among several; nil if none does.
    init(_ claims: [Claim], in scope: inout NameScope, first: ([String]) -> String? = { _ in nil }) {
        let groups = Dictionary(grouping: claims, by: \.wanted).sorted { $0.key < $1.key }
        var rest: [Claim] = []
        for (name, group) in groups {
            let holder = scope.isTaken(name) ? nil : NameClaims.holder(of: name, group, first)
            if let holder { names[holder.owner] = scope.claim(name) }
            if holder == nil || group.count > 1 { contested.append(group) }
            rest += group.filter { $0 != holder }
        }
        for claim in rest {
            names[claim.owner] = scope.claim("\(claim.wanted)_\(Identifier.sanitised(claim.owner))")
        }
    }

    /// The only owner that requests it, or the only one with this spelling in the model, or the one with this name itself, or
    /// the one that takes precedence.
    private static func holder(of name: String, _ group: [Claim], _ first: ([String]) -> String?) -> Claim? {
        if group.count == 1 { return group[0] }
        let exact = group.filter(\.isExact)
        if exact.count == 1 { return exact[0] }
        if let namesake = exact.first(where: { $0.owner == name }) { return namesake }
        return first(exact.map(\.owner)).flatMap { owner in exact.first { $0.owner == owner } }
    }
}
