//! Folders of a thread that are bound into the mount namespace of a container.

use crate::support::Mount;

#[test]
fn a_workspace_bound_into_another_mount_namespace() {
    let mount = Mount::new();
    let steps = r#"
        chmod 777 .
        mkdir "$elsewhere/inside"
        touch ready
        unshare --mount --propagation private bash -euc '
          mount --bind . "$elsewhere/inside"
          cd "$elsewhere/inside"
          echo from inside >inside
          setpriv --reuid 1234 --regid 5678 --clear-groups bash -c "echo as another user >other"
          echo bound >ready
          until [ -s outside ]; do sleep 0.01; done
          cat outside
          mkdir folder
          mv inside folder/renamed
          exec 9>lock
          flock 9
          echo locked >ready
          until [ -e done ]; do sleep 0.01; done' &
        until [ "$(cat ready)" = bound ]; do sleep 0.01; done
        stat -c '%n %u:%g' other
        cat inside
        echo from outside >outside
        until [ "$(cat ready)" = locked ]; do sleep 0.01; done
        cat folder/renamed
        flock --nonblock lock true || echo the lock holds
        touch done
        wait
        flock --nonblock lock true && echo the lock is free"#;
    let told = crate::places::on(&mount.path, steps);
    assert_eq!(told, "other 1234:5678\nfrom inside\nfrom outside\nfrom inside\nthe lock holds\nthe lock is free\n");
}
