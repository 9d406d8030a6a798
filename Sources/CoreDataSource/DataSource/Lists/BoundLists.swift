/// The lists that are registered with a data source, by data key.
@MainActor
final class BoundLists {
    let main: MainTier
    private var lists: [String: BoundList] = [:]
    /// The calls that are filling lists off the main actor.
    private var registrations: [String: Registration] = [:]

    /// A call that is filling a list.
    final class Registration {}

    init(_ main: MainTier) {
        self.main = main
    }

    /// The list of that name, if its delegate still exists.
    subscript(dataKey: String) -> BoundList? {
        guard let list = lists[dataKey] else { return nil }
        if list.delegate == nil {
            removeListsWithoutDelegate()
            return nil
        }
        return list
    }

    /// The names of the lists that have a delegate, in alphabetical order.
    var dataKeys: [String] {
        removeListsWithoutDelegate()
        return lists.keys.sorted()
    }

    /// The names of the lists that are paused. The lists that are no longer paused report in alphabetical order. A delegate may
    /// change this in its call, so no list reports before all of them are set.
    var pausedDataKeys: Set<String> {
        get {
            removeListsWithoutDelegate()
            return Set(lists.lazy.filter(\.value.isPaused).map(\.key))
        }
        set {
            var resumed: [BoundList] = []
            for (dataKey, list) in lists where list.isPaused != newValue.contains(dataKey) {
                list.isPaused.toggle()
                if !list.isPaused { resumed.append(list) }
            }
            for list in resumed.sorted(by: { $0.dataKey < $1.dataKey }) { main.lists.perform { list.catchUp() } }
        }
    }

    func bind(_ engine: ListEngine, _ page: ListPage, _ dataKey: String, _ delegate: any DataSourceDelegate) {
        remove(dataKey)
        lists[dataKey] = BoundList(engine, page, self, dataKey, delegate)
    }

    func remove(_ dataKey: String) {
        removeListsWithoutDelegate()
        registrations[dataKey] = nil
        lists.removeValue(forKey: dataKey)?.end()
    }

    /// Ends the lists whose delegates are gone.
    func removeListsWithoutDelegate() {
        for (dataKey, list) in lists where list.delegate == nil {
            list.end()
            lists[dataKey] = nil
        }
    }

    // MARK: Filling off the main actor

    func beginFilling(_ dataKey: String) -> Registration {
        let registration = Registration()
        registrations[dataKey] = registration
        return registration
    }

    /// Whether the data key was not used again since.
    func isFilling(_ dataKey: String, _ registration: Registration) -> Bool {
        registrations[dataKey] === registration
    }

    func endFilling(_ dataKey: String, _ registration: Registration) {
        if isFilling(dataKey, registration) { registrations[dataKey] = nil }
    }
}
